package main

import (
	"fmt"
	"io"
	"strings"
)

// writeFish writes the script for fish, whose completion of git uses that of
// git-domarkx for "git domarkx".
func writeFish(w io.Writer, commands []completed) error {
	var b strings.Builder
	b.WriteString(fishHead)
	for _, c := range append(commands[:1:1], withCommands(commands[1:])...) {
		condition := ""
		if c.verb != "" {
			before := strings.TrimSuffix(strings.TrimSuffix(c.verb, c.last()), " ")
			fmt.Fprintf(&b, "complete -c git-domarkx -f -n '__fish_git_domarkx_at 1 %s' -a %s -d '%s'\n", before, c.last(), fishQuoted(c.help))
			condition = fmt.Sprintf(" -n '__fish_git_domarkx_at 0 %s'", c.verb)
		}
		for _, o := range c.options {
			fmt.Fprintf(&b, "complete -c git-domarkx%s -l %s", condition, o.long)
			if o.short != "" {
				b.WriteString(" -s " + o.short)
			}
			switch {
			case o.values != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(o.values, " "))
			case o.takes:
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d '%s'\n", fishQuoted(o.help))
		}
		for i, arg := range c.arguments {
			place := fmt.Sprint(i + 1)
			switch {
			case len(c.arguments) == 1:
				place = "0"
			case i == len(c.arguments)-1:
				place += "+"
			}
			if action := fishAction(arg); action != "" {
				fmt.Fprintf(&b, "complete -c git-domarkx -n '__fish_git_domarkx_at %s %s' %s\n", place, c.verb, action)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func fishAction(c completedArgument) string {
	switch c.kind {
	case argSession:
		return "-f -a '(__fish_git_domarkx_names list)'"
	case argWorkspace:
		return "-f -a '(__fish_git_domarkx_names workspace list)'"
	case argResource:
		return "-f -a '(__fish_git_domarkx_names workspace show (__fish_git_domarkx_words)[-1])'"
	case argRemote:
		return "-f -a '(git remote 2>/dev/null; __fish_git_domarkx_names list)'"
	case argWord:
		return "-f -a '" + strings.Join(c.words, " ") + "'"
	case argDirectory:
		return "-x -a '(__fish_complete_directories)'"
	case argFile:
		return "-F"
	}
	return ""
}

func fishQuoted(s string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) }

const fishHead = `# fish completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

# The names that a listing begins its lines with.
function __fish_git_domarkx_names
    git domarkx $argv 2>/dev/null | string split -f1 \t
end

# The words before the cursor that are no options: the command and its arguments.
function __fish_git_domarkx_words
    set -l words (commandline -opc)
    set -e words[1]
    string match -v -- '-*' $words
end

# Whether the cursor is at a place behind a command: 1 is the word after it, 2+ the
# second or later, 0 any.
function __fish_git_domarkx_at
    set -l words (__fish_git_domarkx_words)
    set -l verb $argv[2..]
    set -l depth (count $verb)
    set -l more (math (count $words) - $depth + 1)
    test $more -ge 1; or return
    if test $depth -gt 0
        test "$words[1..$depth]" = "$verb"; or return
    end
    switch $argv[1]
        case 0
            true
        case '*+'
            test $more -ge (string trim -c + $argv[1])
        case '*'
            test $more -eq $argv[1]
    end
end

complete -c git-domarkx -f
`
