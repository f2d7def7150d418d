package pick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// An AmbiguousError means that a part of a name fits several sessions.
type AmbiguousError struct {
	Part  string
	Names []string // sorted
}

// mostNamed is how many of the sessions an [AmbiguousError] lists.
const mostNamed = 10

func (e *AmbiguousError) Error() string {
	list := strings.Join(e.Names[:min(len(e.Names), mostNamed)], "\n    ")
	if more := len(e.Names) - mostNamed; more > 0 {
		list += fmt.Sprintf("\n    and %d more", more)
	}
	return fmt.Sprintf("session %q fits %d sessions; give more of the name:\n    %s", e.Part, len(e.Names), list)
}

// FullName returns the name of the session that a user means: one with this name, the only one with this part of a name, or for @N
// the one with the Nth newest activity. It returns a name that fits none as it is. If several fit, it returns an
// [AmbiguousError].
func (m Picker) FullName(ctx context.Context, part string) (string, error) {
	if n, ok := place(part); ok {
		list, err := m.Sessions.ListAbout(ctx)
		if n > len(list) {
			return "", cmp.Or(err, fmt.Errorf("session %q: %w: there are %d", part, domarkx.ErrNoSession, len(list)))
		}
		return newestFirst(list)[n-1].Name, nil
	}
	// A damaged ref has its name all the same; the command that reads it says so.
	if whole, err := m.Store.HasSession(part); whole || part == "" || err != nil && !errors.Is(err, domarkx.ErrInvalid) {
		return part, nil
	}
	names, err := m.Store.Refs()
	if err != nil {
		return part, err
	}
	var fits []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if strings.Contains(name, part) {
			fits = append(fits, name)
		}
	}
	if len(fits) > 1 {
		return "", &AmbiguousError{part, fits}
	}
	return append(fits, part)[0], nil
}

// place returns the N of @N.
func place(part string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(part, "@")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && digits[0] != '+'
}
