#!/usr/bin/env bash
# Installs the libraries for C: shared and static, headers, manual pages, pkg-config files; for Fortran a module's source.
#   bindings/c/install.sh --prefix DIR [--built DIR] [--only sleds|store]
# `--built` names the folder with what cargo built (default: target/release, built now).
# Packagers set DESTDIR, LIBDIR and MANDIR as usual.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
    printf 'usage: %s --prefix DIR [--built DIR] [--only sleds|store]\n' "$0" >&2
    exit 2
}

prefix='' built='' libraries='sleds store'
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || usage
    case $1 in
        --prefix) prefix=$2 ;;
        --built) built=$2 ;;
        --only) libraries=$2 ;;
        *) usage ;;
    esac
    shift 2
done
case $prefix in /*) ;; *) usage ;; esac
case $libraries in sleds | store | 'sleds store') ;; *) usage ;; esac

if [ -z "$built" ]; then
    (cd "$root" && cargo build --release --locked --package seekless-c --package seekless-store-c)
    built=${CARGO_TARGET_DIR:-$root/target}/release
fi

libdir=${LIBDIR:-$prefix/lib} includedir=$prefix/include mandir=${MANDIR:-$prefix/share/man}
version=$(sed -n '/^\[workspace.package\]/,/^$/ s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
to=${DESTDIR-}

install -d "$to$libdir/pkgconfig" "$to$includedir" "$to$mandir/man3"
for library in $libraries; do
    case $library in sleds) from=$here ;; store) from=$here/store ;; esac
    install -m 755 "$built/libseekless_$library.so" "$to$libdir/libseekless_$library.so.$version"
    ln -sf "libseekless_$library.so.$version" "$to$libdir/libseekless_$library.so.0"
    ln -sf "libseekless_$library.so.0" "$to$libdir/libseekless_$library.so"
    install -m 644 "$built/libseekless_$library.a" "$to$libdir/"
    install -m 644 "$from"/include/* "$to$includedir/"
    install -m 644 "$from/man/seekless_$library.3" "$to$mandir/man3/"
    sed -e "s|@prefix@|$prefix|" -e "s|@libdir@|$libdir|" -e "s|@includedir@|$includedir|" -e "s|@version@|$version|" \
        "$from/seekless-$library.pc.in" >"$to$libdir/pkgconfig/seekless-$library.pc"
done
