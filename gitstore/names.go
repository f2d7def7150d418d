package gitstore

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/domarkx/domarkx"
)

const (
	maxComponent = 200  // bytes of one component of a name
	maxName      = 1000 // bytes of a name
	unnamed      = "session"
)

// CheckName reports whether a session can have that name: NFC; components between
// slashes that are not empty, have none of `@ # ~ ^ : \ ? * [`, no blank or control
// character, no two dots in a row, no leading '-' or '.', no trailing '.', ".md"
// or ".lock", and at most 200 bytes. The error is [domarkx.ErrInvalid] and names
// the name that [MapName] gives.
func CheckName(name string) error { return sessions.checkName(name) }

// CheckWorkspaceName is [CheckName] for a workspace, with the same rules.
func CheckWorkspaceName(name string) error { return workspaces.checkName(name) }

func (k kind) checkName(name string) error {
	mapped := MapName(name)
	if mapped == name {
		return nil
	}
	return fmt.Errorf("%s name %q: %w, try %q", k.noun, name, domarkx.ErrInvalid, mapped)
}

// misspelled is what checkName says of a name that no reference can have.
func (k kind) misspelled(name string, err error) error {
	if errors.Is(err, domarkx.ErrInvalid) {
		return cmp.Or(k.checkName(name), err)
	}
	return err
}

// MapName returns the name nearest to the given one that [CheckName] accepts:
// what a name cannot have becomes '-', what it cannot begin with goes, empty
// components go, and what is too long is cut. An acceptable name is returned as
// it is.
func MapName(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "-"))
	var components []string
	length := -1 // without the slash before the first
	for component := range strings.SplitSeq(name, "/") {
		if component = mapComponent(component); component == "" {
			continue
		}
		if length += len(component) + 1; length > maxName {
			break
		}
		components = append(components, component)
	}
	if len(components) == 0 {
		return unnamed
	}
	return strings.Join(components, "/")
}

func mapComponent(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`@#~^:\?*[`, r) || unicode.IsSpace(r) || unicode.IsControl(r) {
			return '-'
		}
		return r
	}, s)
	for strings.Contains(s, "..") {
		s = strings.ReplaceAll(s, "..", ".-")
	}
	s = strings.TrimLeft(s, "-.")
	for {
		s = mapEnding(s)
		if len(s) <= maxComponent {
			return s
		}
		cut := maxComponent
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut]
	}
}

// mapEnding replaces the dot of an ending that a component cannot have.
func mapEnding(s string) string {
	for _, ending := range []string{".md", ".lock", "."} {
		if before, ok := strings.CutSuffix(s, ending); ok {
			return before + "-" + ending[1:]
		}
	}
	return s
}
