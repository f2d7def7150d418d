// Package refname maps the names of sessions and workspaces to refs, checks the names, and finds those
// that clash with each other. Section 1 of SPEC.md in package gitstore specifies the rules.
package refname

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// A Kind is a kind of named objects: [Sessions] or [Workspaces].
type Kind struct {
	Noun   string
	Prefix string // prefix of their refs
	Trash  string // prefix of the refs of removed ones

	Replaced string // prefix of the refs of those that were replaced by redacted ones
}

// The kinds.
var (
	Sessions   = Kind{"session", "refs/domarkx/sessions/", "refs/domarkx-trash/sessions/", "refs/domarkx-trash/redacted/sessions/"}
	Workspaces = Kind{"workspace", "refs/domarkx/workspaces/", "refs/domarkx-trash/workspaces/", "refs/domarkx-trash/redacted/workspaces/"}
	Kinds      = [...]Kind{Sessions, Workspaces}
)

// RemotePrefix is the prefix of the refs that record the state of remotes.
const RemotePrefix = "refs/domarkx-remotes/"

// Ref returns the ref of a name.
func (k Kind) Ref(name string) string { return k.Prefix + name }

// Name returns the name that belongs to a ref.
func (k Kind) Name(ref string) string { return strings.TrimPrefix(ref, k.Prefix) }

// Of returns the kind and the name that belong to a ref, live or in the trash.
func Of(ref string) (Kind, string) {
	for _, k := range Kinds {
		if name, ok := strings.CutPrefix(ref, k.Prefix); ok {
			return k, name
		}
		if name, ok := strings.CutPrefix(ref, k.Trash); ok {
			return k, name
		}
	}
	return Kind{Noun: "ref"}, ref
}

// TrashTime is the format of the time in a trash ref. Names cannot contain '@', so that names and times
// are distinguishable, and the trash of "a" is separate from that of "a/b".
const TrashTime = "20060102T150405Z"

// ParseTrash returns the name of a removed object and the time of its removal.
func (k Kind) ParseTrash(ref string) (name string, at time.Time, err error) {
	rest, ok := strings.CutPrefix(ref, k.Replaced)
	if !ok {
		rest = strings.TrimPrefix(ref, k.Trash)
	}
	i := strings.LastIndexByte(rest, '@')
	if i < 0 {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected NAME@TIME", ref, domarkx.ErrCorrupt)
	}
	if at, err = time.Parse(TrashTime, rest[i+1:]); err != nil {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected a time such as %s", ref, domarkx.ErrCorrupt, TrashTime)
	}
	return rest[:i], at, nil
}
