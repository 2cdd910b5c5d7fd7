# Sourced by ./run for `bench wc` and `bench grep`: builds the current ripgrep and uutils' wc from
# the registry into target/rivals, once. The versions of distributions are years old.

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
