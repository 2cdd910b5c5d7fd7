#!/usr/bin/env bash
# Installs the C and Fortran library: shared and static, header, Fortran module source, manual page, pkg-config file.
#   bindings/c/install.sh --prefix DIR [--built DIR]
# `--built` names the folder with what cargo built (default: target/release, built now).
# Packagers set DESTDIR, LIBDIR and MANDIR as usual.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    printf 'usage: %s --prefix DIR [--built DIR]\n' "$0" >&2
    exit 2
}

prefix='' built=''
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
        --prefix) prefix=$2 ;;
        --built) built=$2 ;;
        *) usage ;;
    esac
    shift 2
done
case $prefix in /*) ;; *) usage ;; esac

if [ -z "$built" ]; then
    (cd "$root" && cargo build --release --locked --package seekless-c)
    built=${CARGO_TARGET_DIR:-$root/target}/release
fi

libdir=${LIBDIR:-$prefix/lib} includedir=$prefix/include mandir=${MANDIR:-$prefix/share/man}
version=$(sed -n '/^\[workspace.package\]/,/^$/ s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
to=${DESTDIR-}

install -d "$to$libdir/pkgconfig" "$to$includedir" "$to$mandir/man3"
install -m 755 "$built/libseekless_sleds.so" "$to$libdir/libseekless_sleds.so.$version"
ln -sf "libseekless_sleds.so.$version" "$to$libdir/libseekless_sleds.so.0"
ln -sf libseekless_sleds.so.0 "$to$libdir/libseekless_sleds.so"
install -m 644 "$built/libseekless_sleds.a" "$to$libdir/"
install -m 644 "$here/include/seekless_sleds.h" "$here/include/seekless_sleds.f90" "$to$includedir/"
install -m 644 "$here/man/seekless_sleds.3" "$to$mandir/man3/"
sed -e "s|@prefix@|$prefix|" -e "s|@libdir@|$libdir|" -e "s|@includedir@|$includedir|" -e "s|@version@|$version|" \
    "$here/seekless-sleds.pc.in" >"$to$libdir/pkgconfig/seekless-sleds.pc"
