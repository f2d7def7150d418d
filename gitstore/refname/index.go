package refname

import (
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/domarkx/domarkx"
)

// An Index contains the existing names, and finds names that differ from them only in case, or are
// directories of each other.
type Index struct {
	noun        string
	fold        cases.Caser
	names       map[string]string         // case-folded name → name
	directories map[string]map[string]int // case-folded directory → directory as spelled → number of names in it
	example     map[string]string         // case-folded directory → a name in it
}

// NewIndex returns an empty index for names of a kind.
func NewIndex(k Kind) *Index {
	return &Index{noun: k.Noun, fold: cases.Fold(), names: map[string]string{}, directories: map[string]map[string]int{}, example: map[string]string{}}
}

func (x *Index) key(s string) string { return norm.NFC.String(x.fold.String(s)) }

// directoriesOf calls yield with each directory of a name, the outermost first.
func directoriesOf(name string, yield func(directory string)) {
	for i := range len(name) {
		if name[i] == '/' {
			yield(name[:i])
		}
	}
}

// Add adds a name.
func (x *Index) Add(name string) {
	x.names[x.key(name)] = name
	directoriesOf(name, func(directory string) {
		key := x.key(directory)
		if x.directories[key] == nil {
			x.directories[key] = map[string]int{}
		}
		x.directories[key][directory]++
		x.example[key] = name
	})
}

// Remove removes a name.
func (x *Index) Remove(name string) {
	delete(x.names, x.key(name))
	directoriesOf(name, func(directory string) {
		key := x.key(directory)
		if x.directories[key][directory]--; x.directories[key][directory] <= 0 {
			delete(x.directories[key], directory)
		}
		if len(x.directories[key]) == 0 {
			delete(x.directories, key)
			delete(x.example, key)
		}
	})
}

// Check returns [domarkx.ErrExists] with the obstacle if a new name cannot coexist with the others on
// any file system, including those that ignore case.
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
	var err error
	directoriesOf(name, func(directory string) {
		if err != nil {
			return
		}
		key := x.key(directory)
		if other, ok := x.names[key]; ok {
			err = taken("its directory is the %s", other)
			return
		}
		for spelled := range x.directories[key] {
			if spelled != directory {
				err = taken("its directory differs only by case from that of the %s", x.exampleIn(key))
				return
			}
		}
	})
	return err
}

// exampleIn returns a name in an existing directory.
func (x *Index) exampleIn(key string) string {
	example := x.example[key]
	if _, ok := x.names[x.key(example)]; ok {
		return example
	}
	for folded, name := range x.names { // the example was removed
		if strings.HasPrefix(folded, key+"/") {
			return name
		}
	}
	return example
}
