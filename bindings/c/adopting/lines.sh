# Sourced by adopting.sh and wc.sh: counts the lines that a program changes to adopt SLEDs.

# The lines of a program but comments and blank ones.
code() {
    case $1 in
        *.c) sed -e '/^ *\/\*.*\*\/ *$/d' -e '/^ *\/\*/,/\*\/ *$/d' "$1" ;;
        *) sed 's/^ *!.*//' "$1" ;;
    esac | sed -e 's/[ \t]*$//' -e '/^$/d'
}

# Prints a row: `row NAME BEFORE AFTER`. `diff` ends with 1 where files differ, as these must.
row() {
    local modified
    modified=$({ diff <(code "$2") <(code "$3") || true; } | grep -c '^>')
    printf '%s\t%d\t%d\n' "$1" "$modified" "$(code "$3" | wc -l)"
}
