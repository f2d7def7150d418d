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
	for _, c := range commands {
		condition := ""
		if c.verb != "" {
			fmt.Fprintf(&b, "complete -c git-domarkx -f -n __fish_use_subcommand -a %s -d '%s'\n", c.verb, fishQuoted(c.help))
			condition = fmt.Sprintf(" -n '__fish_seen_subcommand_from %s'", c.verb)
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
		if action := fishAction(c); action != "" {
			fmt.Fprintf(&b, "complete -c git-domarkx%s %s\n", condition, action)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func fishAction(c completed) string {
	switch c.kind {
	case argSession:
		return "-f -a '(__fish_git_domarkx_sessions)'"
	case argRemote:
		return "-f -a '(git remote 2>/dev/null; __fish_git_domarkx_sessions)'"
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

function __fish_git_domarkx_sessions
    git domarkx list 2>/dev/null | string split -f1 \t
end

complete -c git-domarkx -f
`
