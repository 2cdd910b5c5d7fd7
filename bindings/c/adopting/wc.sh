#!/usr/bin/env bash
# Makes a real program adopt SLEDs: `wc.sh FOLDER LIBRARIES` gets the source of coreutils' wc from
# Debian, changes it to read in the order that libseekless_sleds gives, and builds both:
# FOLDER/plain/wc and FOLDER/sleds/wc. LIBRARIES is the folder of libseekless_sleds.a. Prints a row
# as adopting.sh does. The source stays in FOLDER; nothing of it is in this repository.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
source "$here/lines.sh"
folder=$1 libraries=$2

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Leaves nothing when it is stopped. A trap waits for a command to end, but not for `wait`.
stop() {
    kill $(jobs -p) 2>/dev/null || true
    wait
    rm -rf "$folder"
    exit 130
}
trap stop INT TERM

# apt-get with lists and packages in FOLDER: the machine's own stay as they are.
apt_source() {
    timeout 120 apt-get -qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User= \
        -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@" >"$folder/apt/said" 2>&1 &
    wait $!
}

# Downloads the archive of a source package from the mirror that this machine's packages come from.
# apt checks its signature.
fetch() {
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror
    command -v apt-get >/dev/null || fail "the source comes from Debian, and there is no apt-get here"
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) main $(ORIGIN)' 'Created-By: Packages' 'Component: main' |
        awk '$4 == "Debian" && $2 !~ /-/ { print $1, $2, $3; exit }')
    [ -n "$mirror" ] || fail "the source comes from Debian, and apt has no mirror of it here"
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    [ -e "$keys" ] && keys="[signed-by=$keys] " || keys=
    printf 'deb-src %s%s\n' "$keys" "$mirror" >"$folder/apt/sources.list"
    apt_source update && (cd "$folder/apt" && apt_source source --download-only "$1") ||
        fail "the source of $1 cannot be had from ${mirror%% *}: $(tail -n 1 "$folder/apt/said")"
}

# Unpacks wc and the few files of gnulib that it is built with. Other headers are replaced by
# config.h.
unpack() {
    local files=(src/wc.c lib/{argv-iter,readtokens0,safe-read}.{c,h} lib/{sys-limits,stat-size}.h)
    mkdir "$folder/plain"
    tar -C "$folder/plain" -xJf "$folder"/apt/coreutils_*.orig.tar.xz --strip-components=2 --wildcards "${files[@]/#/*/}" ||
        fail "the archive of coreutils does not have the files of wc"
    cp "$here/config.h" "$folder/plain"
    for header in arg-nonnull die fadvise mbchar physmem system xbinary-io; do
        : >"$folder/plain/$header.h"
    done
}

# What wc changes: includes the library, reads larger pieces, begins and ends a session, and forgets
# the word and the line that it is in where the next piece does not follow.
adopt() {
    cp -r "$folder/plain" "$folder/sleds"
    sed -i -f "$here/wc.sed" "$folder/sleds/wc.c"
    sed -i -e "/^#define BUFFER_SIZE/r $here/picking.c" "$folder/sleds/wc.c"
}

build() {
    (cd "$folder/$1" && gcc -O2 -w -I. -I"$here/../include" -o wc wc.c argv-iter.c readtokens0.c safe-read.c "${@:2}") ||
        fail "this coreutils' wc cannot be built here"
}

command -v gcc >/dev/null || fail "there is no gcc here"
[ -e "$libraries/libseekless_sleds.a" ] || fail "libseekless_sleds.a is not in $libraries: cargo build --release -p seekless-c"
mkdir -p "$folder"
fetch coreutils
unpack
adopt
build plain
build sleds "$libraries/libseekless_sleds.a" -lpthread -ldl -lm
row "wc of coreutils $(basename "$folder"/apt/coreutils_*.orig.tar.xz .orig.tar.xz | cut -d_ -f2)" "$folder"/{plain,sleds}/wc.c
