#!/usr/bin/env bash
# Counts the lines that a program changes to adopt SLEDs (Van Meter and Gao 2000, Table 4) in the
# examples here, tab-separated, one row a program: *modified* are the lines added or changed, *total*
# is the program after. Comments and blank lines do not count. The paper's wc: 140 of 530.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)

code() {
    case $1 in
        *.c) sed '/^ *\/\*/,/\*\/ *$/d' "$1" ;;
        *) sed 's/^ *!.*//' "$1" ;;
    esac | sed -e 's/[ \t]*$//' -e '/^$/d'
}

# `diff` ends with 1 where files differ, as these must.
row() {
    local modified
    modified=$({ diff <(code "$here/examples/$2") <(code "$here/examples/$3") || true; } | grep -c '^>')
    printf '%s\t%d\t%d\n' "$1" "$modified" "$(code "$here/examples/$3" | wc -l)"
}

printf 'application\tmodified\ttotal\n'
row wc wc_plain.c wc_sleds.c
row mean mean_plain.f90 mean_sleds.f90
