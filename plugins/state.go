package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

const (
	stateFile   = "state.json"
	stateFormat = "1"
	maxState    = 64 << 20 // size limit of a state file, in bytes
)

// A state is the state of an instance as stored in its state file.
type state struct {
	Format    string `json:"format"`
	Name      string `json:"name"`
	Renaming  string `json:"renaming,omitempty"` // new name while the directory is being renamed
	Private   bool   `json:"private,omitempty"`
	Temporary bool   `json:"temporary,omitempty"`
	Next      int    `json:"next,string"` // number of the next resource's directory

	Head      string                    `json:"head,omitempty"` // version that the live state derives from
	Boot      string                    `json:"boot,omitempty"` // Config.Boot when the live state was last known to match the head; "" if unknown
	Committed []domarkx.ResourceVersion `json:"committed"`      // resources of the head
	Resources []entry                   `json:"resources"`      // live resources
	Loading   *loading                  `json:"loading,omitempty"`
	// Given identifies the state that the last commit stored until a version with it is the
	// head: "id version" for each resource. It becomes non-nil before plugins are called.
	Given []string `json:"given,omitzero"`
	// Kept identifies, like Given, the live state of an unfinished load that was last kept,
	// or that the load itself left.
	Kept []string `json:"kept,omitzero"`
}

// A loading is the version being loaded.
type loading struct {
	ID        string                    `json:"version"`
	Resources []domarkx.ResourceVersion `json:"resources"`
	Asked     []domarkx.ResourceSpec    `json:"asked,omitempty"` // the resources that may be opened for that; none means all
}

// An entry is a resource of an instance.
type entry struct {
	domarkx.ResourceSpec
	Directory  string `json:"folder"`         // name of its own directory
	Created    bool   `json:"made,omitempty"` // whether the plugin created it
	Gone       bool   `json:"gone,omitempty"` // whether it is being removed
	Private    bool   `json:"private,omitempty"`
	New        bool   `json:"new,omitempty"`    // whether the unfinished load adds it and has not yet compared the content at its path
	Filled     bool   `json:"filled,omitempty"` // whether the unfinished load found its path vacant
	Dirty      bool   `json:"dirty,omitempty"`  // whether it may differ from the head, whatever the plugin reports
	Copy       bool   `json:"copy,omitempty"`   // whether the content of its path must still be copied into it
	LockedPath string `json:"claim,omitempty"`  // path that it works on in place; no other instance may work on it
	Path       string `json:"path,omitempty"`   // its directory on this machine; in the file, relative to the instance's directory if inside
}

// readState reads the state of the instance in a directory. It returns domarkx.ErrNotFound
// if there is none.
func readState(dir string) (state, error) {
	path := filepath.Join(dir, stateFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, fmt.Errorf("no instance on this machine: %w", domarkx.ErrNotFound)
	}
	if err != nil {
		return state{}, err
	}
	if len(data) > maxState {
		return state{}, fmt.Errorf("%q: %w: larger than %d bytes", path, domarkx.ErrCorrupt, maxState)
	}
	var s state
	if err := json.Unmarshal(data, &s); err != nil {
		return state{}, fmt.Errorf("%q: %w: %w", path, domarkx.ErrCorrupt, err)
	}
	if s.Format != stateFormat {
		return state{}, fmt.Errorf("%q is of format %q: %w", path, s.Format, domarkx.ErrUnsupported)
	}
	for i := range s.Resources {
		e := &s.Resources[i]
		e.Directory = filepath.Base(e.Directory)
		if e.Path != "" && !filepath.IsAbs(e.Path) {
			e.Path = filepath.Join(dir, filepath.FromSlash(e.Path))
		}
	}
	return s, nil
}

// write replaces the state file in a directory durably.
func (s state) write(dir string) error {
	s.Resources = slices.Clone(s.Resources)
	for i := range s.Resources {
		e := &s.Resources[i] // a copied repository has its own
		if inside, err := filepath.Rel(dir, e.Path); err == nil && e.Path != "" && filepath.IsLocal(inside) {
			e.Path = filepath.ToSlash(inside)
		}
	}
	s.Format = stateFormat
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = atomicfile.Replace(filepath.Join(dir, stateFile), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the state of workspace %q: %w", s.Name, err)
	}
	return nil
}
