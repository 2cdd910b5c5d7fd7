#!/usr/bin/env bash
# Builds the command for aarch64 and, where qemu-aarch64 is installed, runs it and its tables' unit tests. qemu-user has
# no ptrace, seccomp, eBPF or perf events: recording is built here and its tables are tested, but no program is recorded.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=aarch64-unknown-linux-gnu

skip() {
    printf 'skipped: aarch64 is not %s: %s\n' "$1" "$2"
    exit 0
}
[ "$(uname -m)" != aarch64 ] || skip "built apart" "all tests run on it"
command -v aarch64-linux-gnu-gcc >/dev/null || skip built "install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"
[ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || skip built "run: rustup target add $target"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
cargo_for_it() {
    cargo "$1" --locked --profile aarch64 --target "$target" "${@:2}"
}
cargo_for_it build --package seekless-cli --bins
command -v qemu-aarch64 >/dev/null || skip run "install qemu-user"

# Where the C library for aarch64 is, which qemu-aarch64 -L wants.
root=$(dirname "$(dirname "$(readlink -f "$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)")")")
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L $root"
# With the command, so that it is built of the same libraries.
cargo_for_it test --package seekless-cli --package seekless-record --package seekless-sys --lib -- \
    arch:: calls:: tracee::registers call_events::convention call_events::event bpf:: seccomp::tests

there=$PWD/target/$target/aarch64 here=$PWD/target/release examples=$PWD/examples
[ -x "$here/seekless" ] || cargo build --release --locked --package seekless-cli --bins
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The program of the tools is static; that of the other verbs is not.
emulated() {
    case $1 in
        wc | grep | find) qemu-aarch64 "$there/seekless-gnu" "$@" ;;
        *) qemu-aarch64 -L "$root" "$there/seekless-verbs" "$@" ;;
    esac
}
# Both programs must print the same, with the same status.
both() {
    local status=0 expected=0
    "$here/seekless" "$@" >expected 2>expected-errors || expected=$?
    emulated "$@" >printed 2>errors || status=$?
    [ $status = $expected ] || { cat errors && printf '%s: %d, not %d\n' "$*" $status $expected && exit 1; }
    cmp expected printed
    printf 'the same on both: seekless %s\n' "$*"
}
both --version
emulated synth "$examples/files.csv" game
# Each file once, then all backwards, then every third.
{
    cat "$examples/files.csv"
    tail -n +2 "$examples/files.csv" | tac
    awk 'NR > 1 && NR % 3 == 0' "$examples/files.csv"
} >run.csv
both sim run.csv --unit file --policy lru,landlord,sieve,arc --capacity '10%..100%*2'
both sim run.csv --policy lru,sieve --capacity '64KB..4MB*2' --device wu-2010
both order --trace "$examples/files.csv" run.csv
both trace files run.csv

# A pack and a trace made by each are the same, and one can be read by the other.
emulated pack game -o there.zip --trace run.csv
"$here/seekless" pack game -o here.zip --trace run.csv
cmp here.zip there.zip
both pack game --check here.zip
emulated trace import run.csv -o there.parquet
both trace files there.parquet
head -n 20 run.csv >few.csv # an emulator needs minutes to load all of them so many times
emulated compare game there.zip --trace few.csv --device iops=500,bandwidth=150MB/s

# Text of 200,000 lines; one file with bytes that are no text.
seq 200000 >lines
head -c 300000 "$here/seekless" >bytes
both wc lines bytes
both wc -l -w -m -L lines
both grep -n 99 lines
both grep -c -E '(1|2)[0-9]*7$' lines
both grep -c -P '7(?=9)' lines
both grep -l nothing lines bytes
both find game -name '*.xml' -size +1k -links 1 -printf '%p %s\n'

# What an emulator lacks is said, in words.
if emulated record -o none.parquet -- true 2>said; then echo 'a program was recorded?' && exit 1; fi
grep -q 'cannot be started' said
emulated doctor >said
grep -q 'Linux .* on aarch64' said
