# Sourced by ./run for `bench wc`, `bench grep` and `bench remote`: builds rivals and a server from their registries into
# target/rivals, once. The versions of distributions are years old.

# Sets SEEKLESS_RIVALS, where the benches look first.
build_rivals() {
    export SEEKLESS_RIVALS=$1/rivals/bin
    rival ripgrep 15.2.0 rg
    rival uu_wc 0.12.0 wc
}

# `rival PACKAGE VERSION PROGRAM`. Without the registry, the bench uses the system's and says so.
rival() {
    [ -x "$SEEKLESS_RIVALS/$3" ] && return 0
    printf 'building %s %s, a rival (once)\n' "$1" "$2" >&2
    CARGO_TARGET_DIR=$SEEKLESS_RIVALS/../build cargo install --quiet --locked --root "${SEEKLESS_RIVALS%/bin}" \
        --version "$2" "$1" || printf 'could not build %s\n' "$1" >&2
}

# For `bench remote`: a server of S3's protocol, and what others load with. What is missing, the bench says.
remote_rivals() {
    export SEEKLESS_RIVALS=$1/rivals/bin
    local python=$1/rivals/python
    if [ ! -x "$SEEKLESS_RIVALS/versitygw" ] && command -v go >/dev/null 2>&1; then
        printf 'building versitygw, a server of objects (once, some minutes)\n' >&2
        GOBIN=$SEEKLESS_RIVALS go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 >/dev/null 2>&1 ||
            printf 'could not build versitygw\n' >&2
    fi
    if [ ! -e "$python/ready" ] && command -v python3 >/dev/null 2>&1; then
        python3 -m venv "$python" >/dev/null 2>&1 && "$python/bin/pip" install -q s3fs >/dev/null 2>&1 &&
            touch "$python/ready" || printf 'could not install s3fs for Python\n' >&2
    fi
    debian rclone rclone || true
    debian s3fs s3fs || true
}
