# bash completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_verbs='version completion man help'
__git_domarkx_globals='--quiet --color --no-progress --help'

__git_domarkx_sessions() {
    git domarkx list 2>/dev/null | cut -f1
}

__git_domarkx_options() {
    case "$1" in
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
    man:--write) return 0 ;;
    *) return 1 ;;
    esac
}

__git_domarkx_arguments() {
    case "$1" in
    completion) echo 'bash zsh fish' ;;
    man) echo 'version completion man help' ;;
    help) echo 'version completion man help' ;;
    esac
}

# Completes the words after "domarkx": $1 is the word at the cursor, the others are those before it.
__git_domarkx_complete() {
    local cur=$1 verb= prev= word values
    shift
    for word in "$@"; do
        prev=$word
        case "$word" in
        -*) ;;
        *) if [ -z "$verb" ]; then verb=$word; fi ;;
        esac
    done
    local IFS=$'\n'
    if [ -n "$prev" ] && values=$(__git_domarkx_values "$verb:$prev"); then
        if [ -n "$values" ]; then
            COMPREPLY=($(compgen -W "$(printf '%s' "$values" | tr ' ' '\n')" -- "$cur"))
        else
            COMPREPLY=($(compgen -f -- "$cur"))
        fi
    elif [ "${cur#-}" != "$cur" ]; then
        COMPREPLY=($(compgen -W "$(printf '%s %s' "$(__git_domarkx_options "$verb")" "$__git_domarkx_globals" | tr ' ' '\n')" -- "$cur"))
    elif [ -z "$verb" ]; then
        COMPREPLY=($(compgen -W "$(printf '%s' "$__git_domarkx_verbs" | tr ' ' '\n')" -- "$cur"))
    else
        COMPREPLY=($(__git_domarkx_arguments "$verb" "$cur" | tr ' ' '\n' | while IFS= read -r word; do
            case "$word" in "$cur"*) printf '%s\n' "$word" ;; esac
        done))
    fi
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
}

complete -o bashdefault -o default -F _git_domarkx git-domarkx
