// Package project reads .domarkx.toml, with which a repository configures its sessions: resources for sessions that list none,
// and defaults for resource configs. It only reads the file. The content is untrusted, like that of a document.
package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// File is the name of the file at the top of a work tree.
const File = ".domarkx.toml"

// maxSize is the maximum size of the file in bytes, which also limits the nesting in the TOML library.
const maxSize = 64 << 10

// A Config is the content of the file. The zero Config stands for a missing file.
type Config struct {
	// Resources are the objects of [[resources]], in the format of a document's workspace-config.
	// It is nil if the file lacks the key.
	Resources []jsonvalue.Value
	// Plugins are the tables of [plugins], in order.
	Plugins []Defaults
	// Models holds the file's settings for models: the name of a suggested model, and settings that are ignored.
	Models []jsonvalue.Member

	data   []byte
	places map[string]int // offsets of keys and items, by JSON pointer
}

// Defaults are the default config values of a resource type.
type Defaults struct {
	Type   string
	Config jsonvalue.Value // an object
}

// Defaults returns the defaults of a resource type. It returns an empty object if there are none.
func (c Config) Defaults(kind string) jsonvalue.Value {
	for _, d := range c.Plugins {
		if d.Type == kind {
			return d.Config
		}
	}
	return jsonvalue.ObjectValue()
}

// Error returns an error at the position of a JSON pointer, or of its nearest known parent. The
// error matches reason, unless reason is nil.
func (c Config) Error(pointer, msg string, reason error) *syntax.Error {
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

// keyOf returns a pointer in TOML notation. Items are counted from 0.
func keyOf(pointer string) string {
	var b strings.Builder
	for _, token := range jsonvalue.PointerTokens(pointer) {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		if token == "" || strings.ContainsFunc(token, isNotBare) {
			token = jsonvalue.StringValue(token).JSON()
		}
		b.WriteString(token)
	}
	return b.String()
}

func isNotBare(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

func errorAt(data []byte, offset int, msg string, reason error) *syntax.Error {
	line, column := syntax.Position(data, offset)
	return &syntax.Error{Path: File, Line: line, Column: column, Msg: msg, Err: reason}
}

// Read reads the file at the top of a work tree. For a bare repository, top is "" and the Config
// is zero. Errors in the content are of type [*syntax.Error] with the path [File].
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
	if !info.Mode().IsRegular() { // Git also refuses symbolic links for its own files in a work tree
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
