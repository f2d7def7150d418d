package gitstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// A kind is a kind of named objects: sessions or workspaces.
type kind struct {
	noun   string
	prefix string // prefix of their refs
	trash  string // prefix of the refs of removed ones
}

var (
	sessions   = kind{"session", "refs/domarkx/sessions/", "refs/domarkx-trash/sessions/"}
	workspaces = kind{"workspace", "refs/domarkx/workspaces/", "refs/domarkx-trash/workspaces/"}
	kinds      = [...]kind{sessions, workspaces}
)

// remotePrefix is the prefix of the refs that record the state of remotes.
const remotePrefix = "refs/domarkx-remotes/"

// SessionRef returns the ref of a session.
func SessionRef(name string) string { return sessions.ref(name) }

// WorkspaceRef returns the ref of a workspace.
func WorkspaceRef(name string) string { return workspaces.ref(name) }

func (k kind) ref(name string) string { return k.prefix + name }

// name returns the name that belongs to a ref.
func (k kind) name(ref string) string { return strings.TrimPrefix(ref, k.prefix) }

// kindOf returns the kind and the name that belong to a ref, live or in the trash.
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

// trashTime is the format of the time in a trash ref. Names cannot contain '@', so that names and times
// are distinguishable, and the trash of "a" is separate from that of "a/b".
const trashTime = "20060102T150405Z"

// parseTrash returns the name of a removed object and the time of its removal.
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
