package main

import (
	"fmt"
	"io"
	"strings"
)

// writeZsh writes the script for zsh. Its completion of git calls the function
// called _git-domarkx for "git domarkx".
func writeZsh(w io.Writer, commands []completed) error {
	var verbs, cases strings.Builder
	for _, c := range commands[1:] {
		fmt.Fprintf(&verbs, "    '%s:%s'\n", c.verb, zshQuoted(c.help))
		fmt.Fprintf(&cases, "  %s)\n    _arguments -s", c.verb)
		for _, o := range append(c.options, commands[0].options...) {
			cases.WriteString(" \\\n      " + zshOption(o))
		}
		if action := zshAction(c); action != "" {
			cases.WriteString(" \\\n      " + action)
		}
		cases.WriteString("\n    ;;\n")
	}
	_, err := fmt.Fprintf(w, zshTemplate, verbs.String(), cases.String())
	return err
}

func zshOption(o completedOption) string {
	help := "[" + zshQuoted(o.help) + "]"
	value := ""
	switch {
	case o.values != nil:
		value = ":" + o.long + ":(" + strings.Join(o.values, " ") + ")"
	case o.takes:
		value = ":" + o.long + ":_files"
	}
	if o.short != "" {
		return fmt.Sprintf("{-%s,--%s}'%s%s'", o.short, o.long, help, value)
	}
	return fmt.Sprintf("'--%s%s%s'", o.long, help, value)
}

func zshAction(c completed) string {
	switch c.kind {
	case argSession:
		return "'*:session:__git_domarkx_sessions'"
	case argRemote:
		return "'1:remote:__git_domarkx_remotes' '*:session:__git_domarkx_sessions'"
	case argWord:
		return "'1:word:(" + strings.Join(c.words, " ") + ")'"
	case argDirectory:
		return "'1:folder:_files -/'"
	case argFile:
		return "'*:file:_files'"
	}
	return ""
}

func zshQuoted(s string) string {
	return strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(s)
}

const zshTemplate = `#compdef git-domarkx
# zsh completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_sessions() {
  local -a sessions
  sessions=(${(f)"$(git domarkx list 2>/dev/null | cut -f1)"})
  compadd -a sessions
}

__git_domarkx_remotes() {
  local -a remotes
  remotes=(${(f)"$(git remote 2>/dev/null)"})
  compadd -a remotes
}

_git-domarkx() {
  local -a verbs
  verbs=(
%s  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'git-domarkx command' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
%s  esac
}

_git-domarkx "$@"
`
