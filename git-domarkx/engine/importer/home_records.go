package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A homeRecord records the last import of a home on this machine.
type homeRecord struct {
	Workspace string              `json:"workspace"`
	Version   string              `json:"version"` // of the resource
	Commit    string              `json:"commit"`  // id of the workspace version
	Files     map[string]homeFile `json:"files,omitempty"`
}

// A homeFile identifies an unchanged file, so that its content need not be read again.
type homeFile struct {
	Size int64  `json:"size"`
	Time int64  `json:"time"` // of the last change, in nanoseconds since 1970
	ID   string `json:"id"`   // of the content
}

// homeRecords records which workspaces homes were imported as on this machine, by the absolute
// path of their documents. It is only a cache: without it, homes are recognized by their
// contents.
type homeRecords struct {
	path   string
	byPath map[string]homeRecord
}

func openHomes(stateDir string) (*homeRecords, error) {
	r := &homeRecords{path: filepath.Join(stateDir, "homes.json"), byPath: map[string]homeRecord{}}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of imported directories: %w", err)
	}
	if json.Unmarshal(data, &r.byPath) != nil || r.byPath == nil {
		r.byPath = map[string]homeRecord{} // damaged: treat it as missing
	}
	return r, nil
}

func (r *homeRecords) set(path string, record homeRecord) { r.byPath[path] = record }

func (r *homeRecords) save() error {
	data, err := json.Marshal(r.byPath)
	if err != nil {
		return err
	}
	if err := local.Replace(r.path, data); err != nil {
		return fmt.Errorf("writing the record of imported directories: %w", err)
	}
	return nil
}
