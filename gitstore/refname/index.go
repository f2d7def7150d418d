package refname

import (
	"fmt"
	"iter"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/domarkx/domarkx/format/domarkx"
)

// An Index is the set of existing names of one kind. It finds the name with which a new one clashes: they differ only
// in case, or one is a directory of the other. It is for one goroutine.
type Index struct {
	noun        string
	fold        cases.Caser
	names       map[string]string         // case-folded name → name
	directories map[string]map[string]int // case-folded directory → directory as spelled → number of names in it
}

// NewIndex returns an index without names.
func NewIndex(k Kind) *Index {
	return &Index{noun: k.Noun, fold: cases.Fold(), names: map[string]string{}, directories: map[string]map[string]int{}}
}

func (x *Index) key(s string) string { return norm.NFC.String(x.fold.String(s)) }

// directoriesOf yields each directory in a name, the outermost first: "a" and "a/b" for "a/b/c".
func directoriesOf(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(name) {
			if name[i] == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

// Add adds a name that the index does not contain.
func (x *Index) Add(name string) {
	x.names[x.key(name)] = name
	for directory := range directoriesOf(name) {
		key := x.key(directory)
		if x.directories[key] == nil {
			x.directories[key] = map[string]int{}
		}
		x.directories[key][directory]++
	}
}

// Remove removes a name that the index contains.
func (x *Index) Remove(name string) {
	delete(x.names, x.key(name))
	for directory := range directoriesOf(name) {
		key := x.key(directory)
		if x.directories[key][directory]--; x.directories[key][directory] <= 0 {
			delete(x.directories[key], directory)
		}
		if len(x.directories[key]) == 0 {
			delete(x.directories, key)
		}
	}
}

// Check returns [domarkx.ErrExists] if name clashes with an existing one, which the error names. Refs of both could
// not be stored as files on every file system, since some ignore case.
func (x *Index) Check(name string) error {
	taken := func(why, other string) error {
		return fmt.Errorf("%s name %q: %w: %s %q", x.noun, name, domarkx.ErrExists, fmt.Sprintf(why, x.noun), other)
	}
	key := x.key(name)
	if other, ok := x.names[key]; ok {
		if other == name {
			return fmt.Errorf("%s %q: %w", x.noun, name, domarkx.ErrExists)
		}
		return taken("it differs only by case from the %s", other)
	}
	if len(x.directories[key]) > 0 {
		return taken("it is the directory of the %s", x.exampleIn(key))
	}
	for directory := range directoriesOf(name) {
		key := x.key(directory)
		if other, ok := x.names[key]; ok {
			return taken("its directory is the %s", other)
		}
		for spelled := range x.directories[key] {
			if spelled != directory {
				return taken("its directory differs only by case from that of the %s", x.exampleIn(key))
			}
		}
	}
	return nil
}

// exampleIn returns the first name in the directory with the given case-folded name.
func (x *Index) exampleIn(key string) (example string) {
	for folded, name := range x.names {
		if strings.HasPrefix(folded, key+"/") && (example == "" || name < example) {
			example = name
		}
	}
	return example
}
