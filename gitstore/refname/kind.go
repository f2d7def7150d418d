// Package refname maps the names of sessions and workspaces to refs, checks the names, and finds those
// that clash with each other. Section 1 of SPEC.md in package gitstore specifies the rules.
package refname

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Kind is a kind of named objects: [Sessions] or [Workspaces].
type Kind struct {
	Noun    string // for messages
	Missing error  // of a name that does not exist
	Prefix  string // of the refs
	Trash   string // prefix of the refs of removed objects

	Replaced string // prefix of the refs of histories that redaction replaced
}

// The kinds.
var (
	Sessions   = Kind{"session", domarkx.ErrNoSession, "refs/domarkx/sessions/", "refs/domarkx-trash/sessions/", "refs/domarkx-trash/redacted/sessions/"}
	Workspaces = Kind{"workspace", domarkx.ErrNoWorkspace, "refs/domarkx/workspaces/", "refs/domarkx-trash/workspaces/", "refs/domarkx-trash/redacted/workspaces/"}
	Kinds      = [...]Kind{Sessions, Workspaces}
)

// RemotePrefix is the prefix of remote-tracking refs: the refs that a remote had when it was last fetched from
// or pushed to.
const RemotePrefix = "refs/domarkx-remotes/"

// Prefixes returns the prefixes of remote-tracking refs, and of the refs of each kind with those in the trash.
func Prefixes() []string {
	return []string{RemotePrefix, Sessions.Prefix, Sessions.Trash, Workspaces.Prefix, Workspaces.Trash}
}

// Ref returns the ref of the object with that name.
func (k Kind) Ref(name string) string { return k.Prefix + name }

// Name returns the name in a ref with the kind's Prefix.
func (k Kind) Name(ref string) string { return strings.TrimPrefix(ref, k.Prefix) }

// Of returns the kind of a ref with the Prefix or Trash of one, and the rest of the ref, which is a name or, in the
// trash, NAME@TIME. For another ref it returns a Kind with the noun "ref" only, and the whole ref.
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

// TrashTime is the layout, as of [time.Parse], of TIME in a trash ref, which ends in NAME@TIME. No name contains '@':
// so TIME can be told from NAME, and the trash refs of "a" are not directories of those of "a/b".
const TrashTime = "20060102T150405Z"

// ParseTrash returns the name of a removed or replaced object and the time of its removal, in UTC. For a ref that does
// not end in NAME@TIME it returns [domarkx.ErrCorrupt].
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
