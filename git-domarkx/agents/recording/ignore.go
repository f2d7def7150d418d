package recording

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// An Ignore lists conversations that are not recorded: globs of titles and of directories.
// In both, "*" stands for any characters and "?" for one. A pattern that begins with "/" or "~/"
// matches the directory in which a conversation began, and those below it; any other pattern
// matches titles, whatever their case.
type Ignore struct{ titles, dirs []string }

// NewIgnore returns the list of these patterns.
func NewIgnore(patterns []string, home string) *Ignore {
	i := &Ignore{}
	for _, p := range patterns {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.ToSlash(filepath.Join(home, rest))
		}
		switch {
		case p == "":
		case path.IsAbs(p) || filepath.IsAbs(p):
			i.dirs = append(i.dirs, path.Clean(filepath.ToSlash(p)))
		default:
			i.titles = append(i.titles, strings.ToLower(p))
		}
	}
	return i
}

func (i *Ignore) equal(j *Ignore) bool {
	return i != nil && j != nil && slices.Equal(i.titles, j.titles) && slices.Equal(i.dirs, j.dirs)
}

// Title reports whether conversations of a title are not recorded.
func (i *Ignore) Title(title string) bool {
	if i == nil {
		return false
	}
	title = strings.ToLower(title)
	return slices.ContainsFunc(i.titles, func(p string) bool { return glob(p, title) })
}

// Directory reports whether conversations that began in a directory are not recorded.
func (i *Ignore) Directory(dir string) bool {
	if i == nil {
		return false
	}
	dir = path.Clean(filepath.ToSlash(dir))
	return slices.ContainsFunc(i.dirs, func(p string) bool {
		for at := dir; ; at = path.Dir(at) {
			if glob(p, at) {
				return true
			}
			if at == path.Dir(at) {
				return false
			}
		}
	})
}

// glob reports whether a pattern with * and ? matches a whole text.
func glob(pattern, text string) bool {
	quoted := regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD"))
	e, err := regexp.Compile("(?s)^" + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + "$")
	return err == nil && e.MatchString(text)
}
