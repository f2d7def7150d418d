# bash completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_verbs='import validate list status show log diff export append edit fork rename rm restore rewind trust run exec replay checkout workspace plugin zeus mount unmount push fetch pull fsck doctor gc version completion man help'
__git_domarkx_globals='--quiet --color --no-progress --help'

# The names that a listing begins its lines with.
__git_domarkx_names() {
    git domarkx "$@" 2>/dev/null | cut -f1
}

# The commands of a command; fails when it has none.
__git_domarkx_commands() {
    case "$1" in
    'workspace') echo 'list log show path diff checkout attach rm' ;;
    'plugin') echo 'list' ;;
    'zeus') echo 'save list restore' ;;
    *) return 1 ;;
    esac
}

__git_domarkx_options() {
    case "$1" in
    import) echo '--as --format --links --attach' ;;
    list) echo '--json' ;;
    show) echo '--format --attachment' ;;
    log) echo '--json --messages' ;;
    export) echo '--format --output --strict --team' ;;
    append) echo '--role --message' ;;
    rm) echo '--force' ;;
    trust) echo '--revoke' ;;
    run) echo '--yes --retry' ;;
    exec) echo '--yes --exit-code --args' ;;
    replay) echo '--yes' ;;
    checkout) echo '--yes' ;;
    'workspace list') echo '--json' ;;
    'workspace log') echo '--json' ;;
    'workspace show') echo '--json' ;;
    'workspace checkout') echo '--yes' ;;
    'workspace rm') echo '--force' ;;
    'plugin list') echo '--json' ;;
    'zeus save') echo '--name --close --json' ;;
    'zeus list') echo '--json' ;;
    'zeus restore') echo '--workspace-mode --if-running --session-dir --json' ;;
    mount) echo '--foreground' ;;
    push) echo '--all --allow-ignored' ;;
    fsck) echo '--json' ;;
    doctor) echo '--json' ;;
    gc) echo '--json' ;;
    man) echo '--write' ;;
    esac
}

# The values of an option (VERB:OPTION); fails when the word before is none that takes one.
__git_domarkx_values() {
    case "$1" in
    *:--color) echo 'auto always never' ;;
    import:--as) return 0 ;;
    import:--format) return 0 ;;
    import:--attach) return 0 ;;
    show:--format) return 0 ;;
    show:--attachment) return 0 ;;
    export:--format) return 0 ;;
    export:--output|export:-o) return 0 ;;
    export:--team) return 0 ;;
    append:--role) echo 'user assistant' ;;
    append:--message|append:-m) return 0 ;;
    exec:--args) return 0 ;;
    'zeus save':--name) return 0 ;;
    'zeus restore':--workspace-mode) echo 'original current' ;;
    'zeus restore':--if-running) echo 'error skip replace' ;;
    'zeus restore':--session-dir) return 0 ;;
    man:--write) return 0 ;;
    *) return 1 ;;
    esac
}

# What may stand at a place ($2, from 1) behind a command; $3 is the word before.
__git_domarkx_arguments() {
    case "$1:$2" in
    show:*) __git_domarkx_names list ;;
    log:*) __git_domarkx_names list ;;
    diff:*) __git_domarkx_names list ;;
    export:*) __git_domarkx_names list ;;
    append:*) __git_domarkx_names list ;;
    edit:*) __git_domarkx_names list ;;
    fork:*) __git_domarkx_names list ;;
    rename:*) __git_domarkx_names list ;;
    rm:*) __git_domarkx_names list ;;
    restore:*) __git_domarkx_names list ;;
    rewind:*) __git_domarkx_names list ;;
    trust:*) __git_domarkx_names list ;;
    run:*) __git_domarkx_names list ;;
    exec:1) __git_domarkx_names list ;;
    exec:2) __git_domarkx_names workspace show "$3" ;;
    replay:*) __git_domarkx_names list ;;
    checkout:1) __git_domarkx_names list ;;
    'workspace log':*) __git_domarkx_names workspace list ;;
    'workspace show':*) __git_domarkx_names workspace list ;;
    'workspace path':1) __git_domarkx_names workspace list ;;
    'workspace path':*) __git_domarkx_names workspace show "$3" ;;
    'workspace diff':*) __git_domarkx_names workspace list ;;
    'workspace checkout':1) __git_domarkx_names workspace list ;;
    'workspace attach':1) __git_domarkx_names list ;;
    'workspace attach':*) __git_domarkx_names workspace list ;;
    'workspace rm':*) __git_domarkx_names workspace list ;;
    'zeus restore':*) __git_domarkx_names list ;;
    push:1) git remote 2>/dev/null; __git_domarkx_names list ;;
    push:*) __git_domarkx_names list ;;
    fetch:1) git remote 2>/dev/null; __git_domarkx_names list ;;
    fetch:*) __git_domarkx_names list ;;
    pull:1) git remote 2>/dev/null; __git_domarkx_names list ;;
    pull:*) __git_domarkx_names list ;;
    completion:*) echo 'bash zsh fish' ;;
    man:*) echo 'import validate list status show log diff export append edit fork rename rm restore rewind trust run exec replay checkout workspace plugin zeus mount unmount push fetch pull fsck doctor gc version completion man help' ;;
    help:*) echo 'import validate list status show log diff export append edit fork rename rm restore rewind trust run exec replay checkout workspace plugin zeus mount unmount push fetch pull fsck doctor gc version completion man help' ;;
    esac
}

# Completes the words after "domarkx": $1 is the word at the cursor, the others are those before it.
__git_domarkx_complete() {
    local cur=$1 verb='' prev='' last='' place=1 word values IFS=$' \t\n'
    shift
    [ "$cur" != = ] || cur=
    for word in "$@"; do
        [ "$word" != = ] || continue
        prev=$word
        case "$word" in
        -*) ;;
        *)
            if [ -z "$verb" ]; then
                verb=$word
            elif __git_domarkx_commands "$verb" >/dev/null; then
                verb="$verb $word"
            else
                place=$((place + 1)) last=$word
            fi
            ;;
        esac
    done
    if [ -n "$prev" ] && values=$(__git_domarkx_values "$verb:$prev"); then
        : # nothing is a file name, which bash completes by itself
    elif [ "${cur#-}" != "$cur" ]; then
        values="$(__git_domarkx_options "$verb") $__git_domarkx_globals"
    elif [ -z "$verb" ]; then
        values=$__git_domarkx_verbs
    elif values=$(__git_domarkx_commands "$verb"); then
        : # one of them is next
    else
        values=$(__git_domarkx_arguments "$verb" "$place" "$last")
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
