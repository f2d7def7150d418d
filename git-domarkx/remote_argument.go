package main

import (
	"os"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// remoteAndNames returns the remote and the session names on a command line. If first is
// the name of a session and not that of a remote or a path, it counts as a session name,
// and the remote is the default one.
func (inv *invocation) remoteAndNames(first string, names []string) (string, []string, error) {
	session, err := inv.isSessionOnly(first)
	if err != nil {
		return "", nil, err
	}
	if session {
		first, names = "", append([]string{first}, names...)
	}
	git, err := inv.git()
	if err != nil {
		return "", nil, err
	}
	found, err := remote.Find(inv.ctx, git, first)
	return found.Name, names, err
}

// isSessionOnly reports whether a word is the name of a session, but not of a remote or a
// path.
func (inv *invocation) isSessionOnly(word string) (bool, error) {
	if word == "" {
		return false, nil
	}
	configured, err := inv.remotes()
	if err != nil || slices.Contains(configured, word) {
		return false, err
	}
	if _, err := os.Stat(word); err == nil {
		return false, nil
	}
	sessions, err := inv.sessions()
	if err != nil {
		return false, err
	}
	list, err := sessions.List(inv.ctx)
	return slices.ContainsFunc(list, func(i domarkx.Info) bool { return i.Name == word }), err
}
