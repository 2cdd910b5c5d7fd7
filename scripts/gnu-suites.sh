#!/usr/bin/env bash
# Runs GNU's own test suites with the product in the program's place: grep 3.8's, findutils 4.9's and
# that of coreutils 9.1 for wc, from Debian's source packages. Compares what fails with
# scripts/gnu-suites.expected. Needs some ten minutes, so ./test leaves it out.
#
# SEEKLESS names the command (else target/release/seekless), SEEKLESS_SUITES the work folder
# (else target/gnu-suites), which a later run uses again. Words choose among: grep find wc.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command=$(readlink -f "${SEEKLESS:-$here/target/release/seekless}")
work=$(readlink -m "${SEEKLESS_SUITES:-$here/target/gnu-suites}")
suites=${*:-grep find wc}
export FORCE_UNSAFE_CONFIGURE=1

skip() {
    printf "skipped: GNU's suites: %s\n" "$1"
    exit 0
}
for tool in apt-get dpkg-source gcc make perl localedef; do
    command -v "$tool" >/dev/null || skip "no $tool"
done
[ -x "$command" ] || skip "no $command: build it first"
mkdir -p "$work"

# Debian's source packages, without a change to the system's lists.
fetch() {
    local name=$1 apt=$work/apt
    compgen -G "$work/${name}_*.dsc" >/dev/null && return
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian bookworm main" >"$apt/sources.list"
    local options=(-qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/none
        -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update || skip "apt-get cannot reach Debian"
    (cd "$work" && apt-get "${options[@]}" source --download-only "$name") || skip "no source of $name"
}

# Debian's patches touch files from which others were made: they must not be made again.
unpack() {
    local name=$1 folder=$2
    [ -e "$work/$folder/configure" ] && return
    fetch "$name"
    (cd "$work" && dpkg-source --no-check -x "${name}"_*.dsc "$folder") >/dev/null
    cd "$work/$folder"
    local later
    for later in '*.m4' aclocal.m4 '*.in' configure '*.[0-9]' '*.info'; do
        sleep 1
        find . -name "$later" -exec touch {} +
    done
}

# Configures and builds folders of a package, once.
build() {
    local folder=$1 step
    shift
    cd "$work/$folder"
    [ -e built ] && return
    ./configure -q --disable-nls >configure.log 2>&1 || skip "$folder cannot be configured"
    for step; do
        # shellcheck disable=SC2086
        make -s $step >>make.log 2>&1 || skip "$folder cannot be built: see $PWD/make.log"
    done
    touch built
}

# The locales that tests ask for.
locales() {
    local locale
    mkdir -p "$work/locales"
    for locale in en_US:UTF-8:en_US.UTF-8 en_US:ISO-8859-1:en_US en_US:ISO-8859-1:en_US.iso88591 \
        fr_FR:ISO-8859-1:fr_FR fr_FR:UTF-8:fr_FR.UTF-8 tr_TR:UTF-8:tr_TR.UTF-8 C:UTF-8:C.UTF-8 \
        ru_RU:KOI8-R:ru_RU.KOI8-R ja_JP:EUC-JP:ja_JP.eucJP ja_JP:SHIFT_JIS:ja_JP.SHIFT_JIS; do
        IFS=: read -r language charset name <<<"$locale"
        [ -d "$work/locales/$name" ] || localedef -i "$language" -f "$charset" --no-archive \
            "$work/locales/$name" >/dev/null 2>&1 || true
    done
    export LOCPATH=$work/locales
}
french=(LOCALE_FR=fr_FR LOCALE_FR_UTF8=fr_FR.UTF-8)

# Prints `SUITE TEST RESULT` for each test of automake's harness.
results() {
    local suite=$1 file
    shift
    for file; do
        printf '%s %s %s\n' "$suite" "$(basename "${file%.trs}")" \
            "$(sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$file" | head -n 1)"
    done
}

run_grep() {
    unpack grep grep-3.8
    build grep-3.8 '-C lib' '-C src' '-C tests get-mb-cur-max'
    ln -sf "$command" src/grep
    find tests -name '*.trs' -delete
    make -s -k -C tests check-TESTS RUN_EXPENSIVE_TESTS=yes "${french[@]}" >suite.log 2>&1 || true
    results grep tests/*.trs
}

run_find() {
    unpack findutils findutils-4.9.0
    build findutils-4.9.0 '-C gl' '-C lib' '-C find' '-C xargs' '-C locate'
    ln -sf "$command" find/find
    find tests -name '*.trs' -delete
    make -s -k check-TESTS PROGRAMS= RUN_EXPENSIVE_TESTS=yes "${french[@]}" >suite.log 2>&1 || true
    find tests -name '*.trs' | sort | while read -r file; do results find "$file"; done
    command -v runtest >/dev/null || { printf 'find dejagnu SKIP\n'; return; }
    make -s -k -C find/testsuite check-DEJAGNU >dejagnu.log 2>&1 || true
    sed -n 's/^\(PASS\|FAIL\|XPASS\): \(.*\)/find dejagnu:\2 \1/p' find/testsuite/find.sum |
        awk '{ result = $NF; $NF = ""; sub(/ $/, ""); sub(/^find /, ""); gsub(/ /, "_");
               print "find", $0, result }'
}

run_wc() {
    unpack coreutils coreutils-9.1
    build coreutils-9.1
    mkdir -p src
    ln -sf "$command" src/wc
    find tests -name '*.trs' -delete
    make -s -k check-TESTS PROGRAMS= RUN_EXPENSIVE_TESTS=yes "${french[@]}" TESTS="$(echo \
        tests/misc/wc*.sh tests/misc/wc*.pl)" >suite.log 2>&1 || true
    results wc tests/misc/wc*.trs
}

locales
for suite in $suites; do
    (cd "$work" && "run_$suite") || exit
done >"$work/results"

expected=$here/scripts/gnu-suites.expected
awk '$3 == "FAIL" || $3 == "ERROR" || $3 == "XPASS" { print $1, $2 }' "$work/results" | sort -u >"$work/failed"
sed '/^#/d; /^$/d' "$expected" | awk '{ print $1, $2 }' | sort -u >"$work/expected"
for suite in $suites; do
    awk -v suite="$suite" '$1 == suite { count[$3]++ }
        END { printf "%-5s", suite; for (result in count) printf " %s %d", result, count[result];
              print "" }' "$work/results"
done
unexpected=$(comm -23 "$work/failed" "$work/expected")
[ -z "$unexpected" ] || {
    printf 'not expected to fail:\n%s\n' "$unexpected"
    exit 1
}
