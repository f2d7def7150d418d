# bash completion of git-domarkx, also as "git domarkx": Git's own completion loads this
# file and calls _git_domarkx. The program says what may come next.

_git_domarkx() {
    local IFS=$' \t\n' first=1 i word line joined=''
    local -a words=()
    if [ "${COMP_WORDS[0]##*/}" != git-domarkx ]; then
        while [ "${COMP_WORDS[first]}" != domarkx ] && ((first < COMP_CWORD)); do ((first += 1)); done
        ((first += 1))
    fi
    # Bash splits words at = : and @ (COMP_WORDBREAKS), the program does not.
    for ((i = first; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && -n $word && ($word == [=:@]* || -n $joined) ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        joined=
        [[ $word != [=:@]* ]] || joined=1
    done
    # It replaces what is behind the last = or :, or from the last @ on.
    local current=${words[${#words[@]} - 1]-} last=${COMP_WORDS[COMP_CWORD]}
    case ${COMP_WORDS[COMP_CWORD - 1]}/$last in
    */[=:]*) last= ;;
    @/?*) last=@$last ;;
    esac
    COMPREPLY=()
    compopt +o bashdefault +o default 2>/dev/null
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        case $line in
        :files) compopt -o bashdefault -o default 2>/dev/null ;;
        :directories) compopt -o dirnames 2>/dev/null ;;
        "$current"*) COMPREPLY+=("${line#"${current%"$last"}"}") ;;
        esac
    done < <(git ${__git_C_args[@]+"${__git_C_args[@]}"} domarkx __complete "${words[@]}" 2>/dev/null)
    # Git's completion adds no blank behind a word by itself.
    [ "${COMP_WORDS[0]##*/}" = git-domarkx ] || COMPREPLY=("${COMPREPLY[@]/%/ }")
}

complete -o bashdefault -o default -F _git_domarkx git-domarkx
