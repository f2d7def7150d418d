package gitstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// A kind is a sort of things that have names.
type kind struct {
	noun   string
	prefix string // of the refs that hold them
	trash  string // of the refs that hold those that were removed
}

var (
	sessions   = kind{"session", "refs/domarkx/sessions/", "refs/domarkx-trash/sessions/"}
	workspaces = kind{"workspace", "refs/domarkx/workspaces/", "refs/domarkx-trash/workspaces/"}
	kinds      = [...]kind{sessions, workspaces}
)

// remotePrefix is where the refs are that say what remotes have.
const remotePrefix = "refs/domarkx-remotes/"

// SessionRef returns the ref of a session.
func SessionRef(name string) string { return sessions.ref(name) }

// WorkspaceRef returns the ref of a workspace.
func WorkspaceRef(name string) string { return workspaces.ref(name) }

func (k kind) ref(name string) string { return k.prefix + name }

// name returns the name of what a ref holds.
func (k kind) name(ref string) string { return strings.TrimPrefix(ref, k.prefix) }

// kindOf returns the kind and the name of what a ref holds, or held when it is in the
// trash.
func kindOf(ref string) (kind, string) {
	for _, k := range kinds {
		if name, ok := strings.CutPrefix(ref, k.prefix); ok {
			return k, name
		}
		if name, ok := strings.CutPrefix(ref, k.trash); ok {
			return k, name
		}
	}
	return kind{noun: "ref"}, ref
}

// trashTime is the form of the time in a trash ref: a name cannot have an '@', so
// that the two never mix, and neither do the entries of "a" and of "a/b".
const trashTime = "20060102T150405Z"

// parseTrash returns the name of what a trash ref holds and when it got there.
func (k kind) parseTrash(ref string) (name string, at time.Time, err error) {
	rest := strings.TrimPrefix(ref, k.trash)
	i := strings.LastIndexByte(rest, '@')
	if i < 0 {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected NAME@TIME", ref, domarkx.ErrCorrupt)
	}
	if at, err = time.Parse(trashTime, rest[i+1:]); err != nil {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected a time such as %s", ref, domarkx.ErrCorrupt, trashTime)
	}
	return rest[:i], at, nil
}
