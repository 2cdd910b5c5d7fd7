#!/usr/bin/env bash
# Installs the panels for Nautilus and Caja for this user:
#   panels/install.sh --user [--command FILE]    FILE is seekless, if it is not on the PATH
#   panels/install.sh --remove
# Needs nautilus-python (python3-nautilus) or python-caja (python3-caja). Restart the file manager
# afterwards: nautilus -q, caja -q.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}

usage() {
    printf 'usage: %s --user [--command FILE] | --remove\n' "$0" >&2
    exit 2
}

remove() {
    local folder
    for folder in "$data/nautilus-python/extensions" "$data/caja-python/extensions"; do
        rm -rf "$folder/seekless_panel" "$folder/seekless_nautilus.py" "$folder/seekless_caja.py"
    done
}

# Puts one file manager's page and the shared module into its folder.
install_page() {
    local folder=$data/$1-python/extensions
    install -d "$folder/seekless_panel"
    install -m 644 "$here/seekless_panel/"*.py "$folder/seekless_panel/"
    install -m 644 "$here/$1/seekless_$1.py" "$folder/"
    [ -z "$command" ] || printf '%s\n' "$command" >"$folder/seekless_panel/command"
    printf 'installed %s\n' "$folder/seekless_$1.py"
}

command=''
case ${1-} in
    --remove) [ $# -eq 1 ] || usage; remove; exit ;;
    --user) shift ;;
    *) usage ;;
esac
if [ $# -gt 0 ]; then
    [ $# -eq 2 ] && [ "$1" = --command ] || usage
    [ -f "$2" ] && [ -x "$2" ] || { printf '%s: not a command\n' "$2" >&2; exit 2; }
    command=$(readlink -f "$2")
fi
remove
install_page nautilus
install_page caja
