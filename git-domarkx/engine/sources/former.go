package sources

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A former is the record of earlier releases: a single file with all documents. The first save
// replaces it by separate files. A nil former has no records.
type former struct {
	path   string
	groups map[string]map[string]Source // first line of the keys → records
}

// readFormer reads the record of earlier releases. It returns nil if there is none.
func readFormer(stateDir string) (*former, error) {
	f := &former{path: filepath.Join(stateDir, "sources.json"), groups: map[string]map[string]Source{}}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imports: %w", err)
	}
	var byKey map[string]Source
	if json.Unmarshal(data, &byKey) != nil {
		byKey = nil // damaged: treat it as missing
	}
	for key, source := range byKey {
		first, _, _ := strings.Cut(key, "\n")
		if f.groups[first] == nil {
			f.groups[first] = map[string]Source{}
		}
		f.groups[first][key] = source
	}
	return f, nil
}

// all returns the groups by the first line of their keys.
func (f *former) all() map[string]map[string]Source {
	if f == nil {
		return nil
	}
	return f.groups
}

// group returns the records of a group.
func (f *former) group(first string) map[string]Source {
	if g := f.all()[first]; g != nil {
		return g
	}
	return map[string]Source{}
}

// remove removes the file.
func (f *former) remove() error {
	if f == nil {
		return nil
	}
	return atomicfile.Remove(f.path)
}
