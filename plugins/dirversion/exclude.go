package dirversion

import (
	"fmt"
	"path"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// parseExclude parses the patterns of c, nil for none. It returns domarkx.ErrInvalid for a malformed one.
func parseExclude(c Config) (*gitignore.Rules, error) {
	if len(c.Exclude) == 0 {
		return nil, nil
	}
	for _, text := range c.Exclude {
		if strings.HasPrefix(text, "!") { // it would have no effect, contrary to what gitignore users expect
			return nil, fmt.Errorf("exclude pattern %q: %w: nothing is taken back with \"!\"; a name that begins with it is \"\\%s\"", text, domarkx.ErrInvalid, text)
		}
		for name := range strings.SplitSeq(strings.TrimPrefix(strings.TrimSuffix(text, "/"), "/"), "/") {
			if name == "" || name == "." || name == ".." {
				return nil, fmt.Errorf("exclude pattern %q: %w: expected names between slashes", text, domarkx.ErrInvalid)
			}
			if _, err := path.Match(name, ""); err != nil {
				return nil, fmt.Errorf("exclude pattern %q: %w: %w", text, domarkx.ErrInvalid, err)
			}
		}
	}
	return gitignore.Patterns(c.Exclude), nil
}

// excluded reports whether a path is excluded, given that none of its parents is.
func (f *Directory) excluded(at string, directory bool) bool {
	if f.inside[at] {
		return true
	}
	if at == "" {
		return false
	}
	if f.observe != nil && (f.ignored(at, directory) || f.protected(at, directory)) {
		return true
	}
	_, excluded := f.exclude.Match(at, directory)
	return excluded
}
