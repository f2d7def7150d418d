package refname

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
	maxComponent = 200  // bytes of one component
	maxName      = 1000 // bytes
	unnamed      = "session"
)

// Check returns [domarkx.ErrInvalid] if no object can have that name; the error suggests the result
// of [Map]. Valid names are in NFC; their components, separated by slashes, are not empty, have at most
// 200 bytes, contain none of `@ # ~ ^ : \ ? * [`, no space or control character and no two successive
// dots, do not begin with '-' or '.', and do not end in '.', ".md" or ".lock".
func (k Kind) Check(name string) error {
	mapped := Map(name)
	if mapped == name {
		return nil
	}
	return fmt.Errorf("%s name %q: %w, try %q", k.Noun, name, domarkx.ErrInvalid, mapped)
}

// Misspelled returns the error of Check for a name that no reference can have.
func (k Kind) Misspelled(name string, err error) error {
	if errors.Is(err, domarkx.ErrInvalid) {
		return cmp.Or(k.Check(name), err)
	}
	return err
}

// Map returns a valid name that is similar to the given one: invalid characters become '-', invalid
// leading characters and empty components are dropped, and long components are cut. Valid names are
// returned unchanged.
func Map(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "-"))
	var components []string
	length := -1 // without the slash before the first component
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

// mapEnding replaces the dot of an invalid ending of a component.
func mapEnding(s string) string {
	for _, ending := range []string{".md", ".lock", "."} {
		if before, ok := strings.CutSuffix(s, ending); ok {
			return before + "-" + ending[1:]
		}
	}
	return s
}
