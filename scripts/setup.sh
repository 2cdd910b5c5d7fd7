# Sourced by ./run and ./test: finds what they need, installs what is missing where it can, says the rest.

# Prints what to do and stops.
need() {
    printf 'seekless: %s\n' "$*" >&2
    exit 2
}

# Installs Debian packages, named after the command that is missing: `debian COMMAND PACKAGE ...`.
debian() {
    local command=$1
    shift
    command -v "$command" >/dev/null 2>&1 && return 0
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        printf 'installing %s (for %s)\n' "$*" "$command" >&2
        if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1; then return 0; fi
        apt-get update -qq >/dev/null 2>&1 || true
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null 2>&1 && return 0
    fi
    return 1
}

# What a build needs: Linux, cargo (the toolchain file pins the version) and a C compiler for libdeflate, liblzma, SQLite and zstd.
setup_build() {
    [ "$(uname -s)" = Linux ] || need "needs Linux (this is $(uname -s))"
    if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME-}/.cargo/bin/cargo" ]; then
        export PATH="$HOME/.cargo/bin:$PATH"
    fi
    debian cargo rustup || need "cargo is missing: install Rust from your distribution's rustup, then run this again"
    debian cc gcc libc6-dev || need "a C compiler is missing: install gcc"
}

# What the tests compare with; a test that misses one skips and says so.
setup_test() {
    debian unzip unzip || true
    debian strace strace || true
    debian python3 python3 || true
    debian make make || true
    debian java default-jdk-headless || true
    debian pkg-config pkg-config || true
    debian gfortran gfortran || true
    debian fitsverify fitsverify || true
    # A Python of our own, with what the FITS tests compare with.
    if [ ! -e target/test-python/ready ] && command -v python3 >/dev/null 2>&1; then
        python3 -m venv target/test-python >/dev/null 2>&1 &&
            target/test-python/bin/pip install -q numpy astropy >/dev/null 2>&1 &&
            touch target/test-python/ready || true
    fi
}
