// Package project reads .domarkx.toml, in which a repository says what its sessions
// share: the resources of those that name none, and defaults for the configs of
// resources. It only reads; what is in the file is as hostile as a document.
package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
)

// File is the name of the file, at the top of a work tree.
const File = ".domarkx.toml"

// maxSize bounds the file, in bytes, and with it how deep the TOML library nests.
const maxSize = 64 << 10

// A Config is what the file says. The zero Config is that of a file that is not
// there.
type Config struct {
	// Resources are the objects of [[resources]], as those in a document's
	// workspace-config; nil when there is no such key.
	Resources []domarkx.Value
	// Plugins are the tables of [plugins], in order.
	Plugins []Defaults

	data   []byte
	places map[string]int // offsets of keys and items, by JSON pointer
}

// Defaults are the values of config keys of a type of resource.
type Defaults struct {
	Type   string
	Config domarkx.Value // an object
}

// Defaults returns the defaults of a type of resource; an object without members
// when there are none.
func (c Config) Defaults(kind string) domarkx.Value {
	for _, d := range c.Plugins {
		if d.Type == kind {
			return d.Config
		}
	}
	return domarkx.ObjectValue()
}

// Error returns an error at the key or item that a JSON pointer names, or else at the
// nearest one around it. It Is reason, unless that is nil.
func (c Config) Error(pointer, msg string, reason error) *domarkx.SyntaxError {
	offset := 0
	for at := pointer; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if found, ok := c.places[at]; ok {
			offset = found
			break
		}
	}
	if pointer != "" {
		msg = keyOf(pointer) + ": " + msg
	}
	return errorAt(c.data, offset, msg, reason)
}

// keyOf is a pointer as TOML spells it, items counted from 0.
func keyOf(pointer string) string {
	var b strings.Builder
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		if token == "" || strings.ContainsFunc(token, isNotBare) {
			token = domarkx.StringValue(token).JSON()
		}
		b.WriteString(token)
	}
	return b.String()
}

func isNotBare(r rune) bool { return !isBare(r) }

func errorAt(data []byte, offset int, msg string, reason error) *domarkx.SyntaxError {
	line, column := domarkx.Position(data, offset)
	return &domarkx.SyntaxError{Path: File, Line: line, Column: column, Msg: msg, Err: reason}
}

// Read reads the file at the top of a work tree; "" is that of a bare repository,
// which has none. What is wrong with its content is a [*domarkx.SyntaxError] whose
// path is [File].
func Read(top string) (Config, error) {
	if top == "" {
		return Config{}, nil
	}
	path := filepath.Join(top, File)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	if !info.Mode().IsRegular() { // as Git does with its own files in a work tree
		return Config{}, errorAt(nil, 0, "is no regular file, expected one: symbolic links are not followed", nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("reading %q: %w", File, err)
	}
	return Parse(data)
}
