package main

import (
	"fmt"
	"io"
	"strings"
)

// writeBash writes the script for bash. Git's own completion loads the file
// called git-domarkx and calls _git_domarkx for "git domarkx"; bash-completion
// loads the same file for "git-domarkx".
func writeBash(w io.Writer, commands []completed) error {
	var verbs, groups, options, values, arguments strings.Builder
	for _, c := range commands[1:] {
		verbs.WriteString(" " + c.verb)
	}
	commands = append(commands[:1:1], withCommands(commands[1:])...)
	for _, c := range commands[1:] {
		if c.commands != nil {
			var words []string
			for _, child := range c.commands {
				words = append(words, child.last())
			}
			fmt.Fprintf(&groups, "    '%s') echo '%s' ;;\n", c.verb, strings.Join(words, " "))
		}
		if len(c.options) > 0 {
			fmt.Fprintf(&options, "    %s) echo '%s' ;;\n", bashWord(c.verb), bashOptions(c.options))
		}
		for i, arg := range c.arguments {
			place := fmt.Sprintf("%d", i+1)
			if i == len(c.arguments)-1 {
				place = "*"
			}
			if action := bashAction(arg); action != "" {
				fmt.Fprintf(&arguments, "    %s:%s) %s ;;\n", bashWord(c.verb), place, action)
			}
		}
	}
	for _, c := range commands {
		for _, o := range c.options {
			if o.values != nil {
				fmt.Fprintf(&values, "    %s:--%s) echo '%s' ;;\n", orStar(c.verb), o.long, strings.Join(o.values, " "))
			} else if o.takes {
				spelling := fmt.Sprintf("%s:--%s", orStar(c.verb), o.long)
				if o.short != "" {
					spelling += fmt.Sprintf("|%s:-%s", orStar(c.verb), o.short)
				}
				fmt.Fprintf(&values, "    %s) return 0 ;;\n", spelling)
			}
		}
	}
	_, err := fmt.Fprintf(w, bashTemplate, strings.TrimSpace(verbs.String()), bashOptions(commands[0].options), groups.String(), options.String(), values.String(), arguments.String())
	return err
}

func bashAction(arg completedArgument) string {
	switch arg.kind {
	case argSession:
		return "__git_domarkx_names list"
	case argWorkspace:
		return "__git_domarkx_names workspace list"
	case argResource:
		return `__git_domarkx_names workspace show "$3"`
	case argRemote:
		return "git remote 2>/dev/null; __git_domarkx_names list"
	case argWord:
		return "echo '" + strings.Join(arg.words, " ") + "'"
	}
	return ""
}

// bashWord is a verb as a pattern of case.
func bashWord(verb string) string {
	if strings.Contains(verb, " ") {
		return "'" + verb + "'"
	}
	return verb
}

func orStar(verb string) string {
	if verb == "" {
		return "*"
	}
	return bashWord(verb)
}

func bashOptions(options []completedOption) string {
	var words []string
	for _, o := range options {
		words = append(words, "--"+o.long)
	}
	return strings.Join(words, " ")
}

const bashTemplate = `# bash completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_verbs='%s'
__git_domarkx_globals='%s'

# The names that a listing begins its lines with.
__git_domarkx_names() {
    git domarkx "$@" 2>/dev/null | cut -f1
}

# The commands of a command; fails when it has none.
__git_domarkx_commands() {
    case "$1" in
%s    *) return 1 ;;
    esac
}

__git_domarkx_options() {
    case "$1" in
%s    esac
}

# The values of an option (VERB:OPTION); fails when the word before is none that takes one.
__git_domarkx_values() {
    case "$1" in
%s    *) return 1 ;;
    esac
}

# What may stand at a place ($2, from 1) behind a command; $3 is the word before.
__git_domarkx_arguments() {
    case "$1:$2" in
%s    esac
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
    [ "${COMP_WORDS[0]##*/}" = git-domarkx ] || COMPREPLY=("${COMPREPLY[@]/%%/ }")
}

complete -o bashdefault -o default -F _git_domarkx git-domarkx
`
