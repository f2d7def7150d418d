package gitstore

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// Where the refs are.
const (
	sessionPrefix = "refs/domarkx/sessions/"
	trashPrefix   = "refs/domarkx-trash/sessions/"
	remotePrefix  = "refs/domarkx-remotes/"
)

// SessionRef returns the ref of a session.
func SessionRef(name string) string { return sessionPrefix + name }

// sessionName returns the name of the session that a ref holds.
func sessionName(ref string) string { return strings.TrimPrefix(ref, sessionPrefix) }

// trashTime is the form of the time in a trash ref: the name of a session cannot
// have an '@', so that the two never mix, and neither do the entries of "a" and
// of "a/b".
const trashTime = "20060102T150405Z"

func trashRef(name string, at time.Time) string {
	return trashPrefix + name + "@" + at.UTC().Format(trashTime)
}

// parseTrashRef returns the name of the session in the trash and when it got there.
func parseTrashRef(ref string) (name string, at time.Time, err error) {
	rest := strings.TrimPrefix(ref, trashPrefix)
	i := strings.LastIndexByte(rest, '@')
	if i < 0 {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected NAME@TIME", ref, domarkx.ErrCorrupt)
	}
	if at, err = time.Parse(trashTime, rest[i+1:]); err != nil {
		return "", time.Time{}, fmt.Errorf("trash ref %q: %w, expected a time such as %s", ref, domarkx.ErrCorrupt, trashTime)
	}
	return rest[:i], at, nil
}
