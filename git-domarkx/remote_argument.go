package main

import (
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// remoteAndNames returns the remote and the session names on a command line. If first is
// the name of a session and not that of a remote or a path, it counts as a session name,
// and the remote is the default one.
func (inv *invocation) remoteAndNames(first string, names []string) (string, []string, error) {
	session, err := inv.sessionOnly(first)
	if err != nil {
		return "", nil, err
	}
	if session != "" {
		first, names = "", append([]string{session}, names...)
	}
	git, err := inv.git()
	if err != nil {
		return "", nil, err
	}
	found, err := remote.Find(inv.ctx, git, first)
	return found.Name, names, err
}

// sessionOnly returns the session whose name a word is, unless it is a remote or a path. @N is the session with the Nth newest
// activity; no other part of a name counts, because a misspelt remote would then send a session to another one.
func (inv *invocation) sessionOnly(word string) (string, error) {
	if word == "" {
		return "", nil
	}
	configured, err := inv.remotes()
	if err != nil || slices.Contains(configured, word) {
		return "", err
	}
	if _, err := os.Stat(word); err == nil {
		return "", nil
	}
	sessions, err := inv.sessions()
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(word, "@") {
		return inv.opened.picker().FullName(inv.ctx, word)
	}
	list, err := sessions.List(inv.ctx)
	if slices.ContainsFunc(list, func(i domarkx.Info) bool { return i.Name == word }) {
		return word, err
	}
	return "", err
}
