#!/usr/bin/env bash
# Counts the lines that a program changes to adopt SLEDs (Van Meter and Gao 2000, Table 4) in the
# examples here, tab-separated, one row a program: *modified* are the lines added or changed, *total*
# is the program after. Comments and blank lines do not count. The paper's wc: 140 of 530.
# `adopting/wc.sh` does the same for the wc of coreutils.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
source "$here/adopting/lines.sh"

printf 'application\tmodified\ttotal\n'
row wc "$here/examples/wc_plain.c" "$here/examples/wc_sleds.c"
row mean "$here/examples/mean_plain.f90" "$here/examples/mean_sleds.f90"
