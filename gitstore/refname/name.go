package refname

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/domarkx/domarkx/format/domarkx"
)

const (
	maxComponent = 200  // bytes of one component
	maxName      = 1000 // bytes of a name
	unnamed      = "session"
)

// Check returns [domarkx.ErrInvalid] for an invalid name; the error suggests the result of [Map]. A valid name is UTF-8
// in Unicode normalization form C, has at most 1,000 bytes, and consists of components separated by slashes. A component
//
//   - has 1 to 200 bytes,
//   - contains no white space, no control character, none of `@ # ~ ^ : \ ? * [`, and no two successive dots,
//   - does not begin with '-' or '.',
//   - does not end in '.', ".md" or ".lock".
//
// So git-check-ref-format(1) accepts the ref of each valid name.
func (k Kind) Check(name string) error {
	mapped := Map(name)
	if mapped == name {
		return nil
	}
	return fmt.Errorf("%s name %q: %w, try %q", k.Noun, name, domarkx.ErrInvalid, mapped)
}

// Misspelled returns an error that suggests a valid name if err is [domarkx.ErrInvalid] and name is not valid.
// Otherwise it returns err.
func (k Kind) Misspelled(name string, err error) error {
	if errors.Is(err, domarkx.ErrInvalid) {
		return cmp.Or(k.Check(name), err)
	}
	return err
}

// Map returns a valid name that is similar to the given one: it replaces invalid characters by '-', drops invalid
// leading characters and empty components, and shortens long components and names. If nothing remains, it returns
// "session". It returns valid names unchanged.
func Map(name string) string {
	name = norm.NFC.String(strings.ToValidUTF8(name, "-"))
	var components []string
	length := -1 // each component adds one for a slash, which the first one does not have
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

// mapEnding replaces the dot of an invalid ending of a component by '-'.
func mapEnding(s string) string {
	for _, ending := range []string{".md", ".lock", "."} {
		if before, ok := strings.CutSuffix(s, ending); ok {
			return before + "-" + ending[1:]
		}
	}
	return s
}
