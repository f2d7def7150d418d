//go:build unix

// Package storetest has stores of sessions and of workspaces for tests of the mount. Each is a directory of plain files,
// which several processes can share.
package storetest

import (
	"bytes"
	"crypto/sha1"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A directory has a subdirectory for each kind of value.
type directory string

func create(dir string, kinds ...string) (directory, error) {
	for _, kind := range kinds {
		if err := os.MkdirAll(filepath.Join(dir, kind), 0o700); err != nil {
			return "", err
		}
	}
	return directory(dir), nil
}

func (d directory) path(kind, name string) string {
	return filepath.Join(string(d), kind, strings.ReplaceAll(name, "/", "%"))
}

// names returns the names that have a text.
func (d directory) names(kind string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(string(d), kind))
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			names = append(names, strings.ReplaceAll(e.Name(), "%", "/"))
		}
	}
	return names, err
}

// text returns the text of a name, or domarkx.ErrNotFound.
func (d directory) text(kind, name string) (string, error) {
	data, err := os.ReadFile(d.path(kind, name))
	return string(data), found(err, name)
}

// found returns domarkx.ErrNotFound for a file that does not exist.
func found(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%q: %w", name, domarkx.ErrNotFound)
	}
	return err
}

// set replaces the text of a name atomically.
func (d directory) set(kind, name, text string) error {
	aside := d.path(kind, ".tmp-"+name)
	if err := os.WriteFile(aside, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(aside, d.path(kind, name))
}

// put stores a value under its digest.
func (d directory) put(kind string, v any) (id string, err error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return "", err
	}
	id = fmt.Sprintf("%x", sha1.Sum(b.Bytes()))
	return id, d.set(kind, id, b.String())
}

func (d directory) get(kind, id string, v any) error {
	text, err := d.text(kind, id)
	if err != nil {
		return err
	}
	return gob.NewDecoder(strings.NewReader(text)).Decode(v)
}
