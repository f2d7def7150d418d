# bash completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_verbs='import validate list status show log diff export append edit fork rename rm restore rewind mount unmount push fetch pull fsck doctor gc version completion man help'
__git_domarkx_globals='--quiet --color --no-progress --help'

__git_domarkx_sessions() {
    git domarkx list 2>/dev/null | cut -f1
}

__git_domarkx_options() {
    case "$1" in
    import) echo '--as --format' ;;
    validate) echo '' ;;
    list) echo '--json' ;;
    status) echo '' ;;
    show) echo '--format' ;;
    log) echo '--json --messages' ;;
    diff) echo '' ;;
    export) echo '--format --output --strict --team' ;;
    append) echo '--role --message' ;;
    edit) echo '' ;;
    fork) echo '' ;;
    rename) echo '' ;;
    rm) echo '' ;;
    restore) echo '' ;;
    rewind) echo '' ;;
    mount) echo '--foreground' ;;
    unmount) echo '' ;;
    push) echo '--all' ;;
    fetch) echo '' ;;
    pull) echo '' ;;
    fsck) echo '--json' ;;
    doctor) echo '--json' ;;
    gc) echo '--json' ;;
    version) echo '' ;;
    completion) echo '' ;;
    man) echo '--write' ;;
    help) echo '' ;;
    esac
}

# The values of an option (VERB:OPTION); fails when the word before is none that takes one.
__git_domarkx_values() {
    case "$1" in
    *:--color) echo 'auto always never' ;;
    import:--as) return 0 ;;
    import:--format) return 0 ;;
    show:--format) return 0 ;;
    export:--format) return 0 ;;
    export:--output|export:-o) return 0 ;;
    export:--team) return 0 ;;
    append:--role) echo 'user assistant' ;;
    append:--message|append:-m) return 0 ;;
    man:--write) return 0 ;;
    *) return 1 ;;
    esac
}

__git_domarkx_arguments() {
    case "$1" in
    show) __git_domarkx_sessions ;;
    log) __git_domarkx_sessions ;;
    diff) __git_domarkx_sessions ;;
    export) __git_domarkx_sessions ;;
    append) __git_domarkx_sessions ;;
    edit) __git_domarkx_sessions ;;
    fork) __git_domarkx_sessions ;;
    rename) __git_domarkx_sessions ;;
    rm) __git_domarkx_sessions ;;
    restore) __git_domarkx_sessions ;;
    rewind) __git_domarkx_sessions ;;
    push) git remote 2>/dev/null; __git_domarkx_sessions ;;
    fetch) git remote 2>/dev/null; __git_domarkx_sessions ;;
    pull) git remote 2>/dev/null; __git_domarkx_sessions ;;
    completion) echo 'bash zsh fish' ;;
    man) echo 'import validate list status show log diff export append edit fork rename rm restore rewind mount unmount push fetch pull fsck doctor gc version completion man help' ;;
    help) echo 'import validate list status show log diff export append edit fork rename rm restore rewind mount unmount push fetch pull fsck doctor gc version completion man help' ;;
    esac
}

# Completes the words after "domarkx": $1 is the word at the cursor, the others are those before it.
__git_domarkx_complete() {
    local cur=$1 verb='' prev='' word values IFS=$' \t\n'
    shift
    [ "$cur" != = ] || cur=
    for word in "$@"; do
        [ "$word" != = ] || continue
        prev=$word
        case "$word" in
        -*) ;;
        *) if [ -z "$verb" ]; then verb=$word; fi ;;
        esac
    done
    if [ -n "$prev" ] && values=$(__git_domarkx_values "$verb:$prev"); then
        : # nothing is a file name, which bash completes by itself
    elif [ "${cur#-}" != "$cur" ]; then
        values="$(__git_domarkx_options "$verb") $__git_domarkx_globals"
    elif [ -z "$verb" ]; then
        values=$__git_domarkx_verbs
    else
        values=$(__git_domarkx_arguments "$verb")
    fi
    COMPREPLY=()
    for word in ${values//$'\n'/ }; do
        case "$word" in "$cur"*) COMPREPLY+=("$word") ;; esac
    done
}

# Called by Git's completion for "git domarkx", and below for "git-domarkx".
_git_domarkx() {
    local first=1 i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = domarkx ]; then
            first=$((i + 1))
            break
        fi
    done
    __git_domarkx_complete "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:first:COMP_CWORD-first}"
    # Git's completion adds no blank behind a word by itself.
    [ "${COMP_WORDS[0]##*/}" = git-domarkx ] || COMPREPLY=("${COMPREPLY[@]/%/ }")
}

complete -o bashdefault -o default -F _git_domarkx git-domarkx
