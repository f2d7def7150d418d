package main

import (
	"fmt"
	"io"
	"strings"
)

// writeZsh writes the script for zsh. Its completion of git calls the function
// called _git-domarkx for "git domarkx".
func writeZsh(w io.Writer, commands []completed) error {
	var verbs, cases, groups strings.Builder
	for _, c := range commands[1:] {
		fmt.Fprintf(&verbs, "    '%s:%s'\n", c.verb, zshQuoted(c.help))
		zshCase(&cases, c, commands[0].options)
		if c.commands == nil {
			continue
		}
		fmt.Fprintf(&groups, "_git-domarkx-%s() {\n  local -a verbs\n  verbs=(\n", c.verb)
		var inner strings.Builder
		for _, child := range c.commands {
			fmt.Fprintf(&groups, "    '%s:%s'\n", child.last(), zshQuoted(child.help))
			zshCase(&inner, child, commands[0].options)
		}
		fmt.Fprintf(&groups, zshGroup, c.verb, inner.String())
	}
	_, err := fmt.Fprintf(w, zshTemplate, groups.String(), verbs.String(), cases.String())
	return err
}

// zshCase writes what completes behind one command.
func zshCase(b *strings.Builder, c completed, globals []completedOption) {
	if c.commands != nil {
		fmt.Fprintf(b, "  %s)\n    _git-domarkx-%s\n    ;;\n", c.last(), c.verb)
		return
	}
	fmt.Fprintf(b, "  %s)\n    _arguments -s", c.last())
	for _, o := range append(c.options, globals...) {
		b.WriteString(" \\\n      " + zshOption(o))
	}
	for i, arg := range c.arguments {
		place := fmt.Sprint(i + 1)
		if i == len(c.arguments)-1 {
			place = "*"
		}
		if action := zshAction(arg); action != "" {
			fmt.Fprintf(b, " \\\n      '%s:%s'", place, action)
		}
	}
	b.WriteString("\n    ;;\n")
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

func zshAction(c completedArgument) string {
	switch c.kind {
	case argSession:
		return "session:__git_domarkx_sessions"
	case argWorkspace:
		return "workspace:__git_domarkx_workspaces"
	case argResource:
		return "resource:__git_domarkx_resources"
	case argRemote:
		return "remote:__git_domarkx_remotes"
	case argWord:
		return "word:(" + strings.Join(c.words, " ") + ")"
	case argDirectory:
		return "folder:_files -/"
	case argFile:
		return "file:_files"
	}
	return ""
}

func zshQuoted(s string) string {
	return strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(s)
}

const zshGroup = `  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'git-domarkx %s command' verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
%s  esac
}

`

const zshTemplate = `#compdef git-domarkx
# zsh completion of git-domarkx, also as "git domarkx". Made from the command model by go generate.

__git_domarkx_sessions() {
  local -a sessions
  sessions=(${(f)"$(git domarkx list 2>/dev/null | cut -f1)"})
  compadd -a sessions
}

__git_domarkx_workspaces() {
  local -a workspaces
  workspaces=(${(f)"$(git domarkx workspace list 2>/dev/null | cut -f1)"})
  compadd -a workspaces
}

# The resources of the workspace that is the word before.
__git_domarkx_resources() {
  local -a resources
  resources=(${(f)"$(git domarkx workspace show ${words[CURRENT-1]} 2>/dev/null | cut -f1)"})
  compadd -a resources
}

__git_domarkx_remotes() {
  local -a remotes
  remotes=(${(f)"$(git remote 2>/dev/null)"})
  compadd -a remotes
}

%s_git-domarkx() {
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
