package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
)

// RememberExport records that a file holds an export, so that importing it continues the session.
// The same holds for later saves of that document by the format's program under another name.
// path is "" if the export was not written to a file. It does nothing for Markdown and JSON,
// because no other program continues such files, or if the repository is read-only. It does not
// replace the record of another import, except that of the file itself.
func (m *SessionManager) RememberExport(ctx context.Context, e *Export, path string) error {
	if IsForm(e.codec.Name) {
		return nil
	}
	known, err := openSources(m.env.StateDir)
	if err != nil {
		return err
	}
	keys, digest, err := e.keys(path)
	if err != nil {
		return err
	}
	isNew := func(s *sources, key string) bool { return s.byPath[key].Session != e.name }
	todo := false
	for _, key := range keys {
		todo = todo || isNew(known, key)
	}
	if !todo {
		return nil
	}
	err = m.Update(ctx, "export "+e.name, func(*gitstore.Tx) error {
		s, err := openSources(m.env.StateDir)
		if err != nil {
			return err
		}
		for i, key := range keys {
			isFile := i == 0 && path != ""
			if isNew(s, key) && (isFile || !s.hasKey(key)) { // a session keeps its identity
				s.set(key, source{Session: e.name, Snapshot: e.snapshot, Digest: digest}, s.byPath[key])
			}
		}
		return s.save()
	})
	if errors.Is(err, domarkx.ErrReadOnly) {
		return nil
	}
	return err
}

// keys returns the keys under which the document is remembered and its digest. If path is not "",
// the first key is that of the file.
func (e *Export) keys(path string) (keys []string, digest string, err error) {
	var f *os.File
	if path != "" {
		key, err := canonicalPath(path)
		if err != nil {
			return nil, "", err
		}
		if f, err = os.Open(path); err != nil {
			return nil, "", err
		}
		keys = append(keys, key)
	} else {
		if e.codec.Identify == nil || e.codec.Place == nil {
			return nil, "", nil
		}
		if f, err = e.aside(""); err != nil {
			return nil, "", err
		}
		defer os.Remove(f.Name())
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, "", err
	}
	if e.codec.Identify != nil && e.codec.Place != nil {
		if place, err := e.placeOf(f, 0); err == nil && place.ID != "" { // without an id, only the path is remembered
			keys = append(keys, e.codec.Name+":"+place.ID)
		}
	}
	return keys, hex.EncodeToString(sum.Sum(nil)), nil
}
