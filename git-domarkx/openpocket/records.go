package openpocket

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A record describes the last import of a home on this machine.
type record struct {
	Workspace string               `json:"workspace"`
	Version   string               `json:"version"` // the resource version
	Commit    string               `json:"commit"`  // the id of the workspace version
	Files     map[string]knownFile `json:"files,omitempty"`
}

// A knownFile identifies an unchanged file, so that its content need not be read again.
type knownFile struct {
	Size int64  `json:"size"`
	Time int64  `json:"time"` // time of the last change, in nanoseconds since 1970
	ID   string `json:"id"`   // id of the content
}

// records maps the absolute path of each home's documents to the record of the home's last import
// on this machine. It is only a cache: without it, homes are recognized by their contents.
type records struct {
	path   string
	byPath map[string]record
}

func openRecords(stateDir string) (*records, error) {
	r := &records{path: filepath.Join(stateDir, "homes.json"), byPath: map[string]record{}}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imported directories: %w", err)
	}
	if json.Unmarshal(data, &r.byPath) != nil || r.byPath == nil {
		r.byPath = map[string]record{} // damaged: treat it as missing
	}
	return r, nil
}

func (r *records) save() error {
	data, err := json.Marshal(r.byPath)
	if err != nil {
		return err
	}
	if err := local.Replace(r.path, data); err != nil {
		return fmt.Errorf("writing the record of imported directories: %w", err)
	}
	return nil
}
