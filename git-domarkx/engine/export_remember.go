package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// RememberExport records that a file holds an export, so that importing it continues the session. The same holds for later
// saves of that document by the format's program under another name. path is "" if the export was not written to a file. It
// does nothing for Markdown, JSON and pages, because no other program continues such files, or if the repository is
// read-only. It does not replace the record of another import, except that of the file itself.
func (m *SessionManager) RememberExport(ctx context.Context, e *Export, path string) error {
	if IsForm(e.Codec.Name) || e.snapshot == "" {
		return nil
	}
	known := sources.Open(m.env.StateDir)
	keys, digest, err := e.keys(path)
	if err != nil {
		return err
	}
	isNew := func(s *sources.Record, key string) bool { return s.Get(key).Session != e.Name }
	todo := false
	for _, key := range keys {
		todo = todo || isNew(known, key)
	}
	if !todo {
		return nil
	}
	err = m.Update(ctx, "export "+e.Name, func(*transaction.Tx) error {
		s := sources.Open(m.env.StateDir)
		for i, key := range keys {
			isFile := i == 0 && path != ""
			if isNew(s, key) && (isFile || !s.HasKey(key)) { // a document that is known under another name keeps its session
				s.Set(key, sources.Source{Session: e.Name, Snapshot: e.snapshot, Digest: digest}, s.Get(key))
			}
		}
		return s.Save()
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
		key, err := local.CanonicalPath(path)
		if err != nil {
			return nil, "", err
		}
		if f, err = os.Open(path); err != nil {
			return nil, "", err
		}
		keys = append(keys, key)
	} else {
		if e.Codec.Identify == nil || e.Codec.Open == nil && e.Codec.Place == nil {
			return nil, "", nil
		}
		t, err := local.NewTemporary("", e.Content)
		if err != nil {
			return nil, "", err
		}
		defer t.Close()
		f = t.File
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return nil, "", err
	}
	if id := e.identity(f); id != "" { // without an id, only the path is remembered
		keys = append(keys, e.Codec.Name+":"+id)
	}
	return keys, hex.EncodeToString(sum.Sum(nil)), nil
}

// identity returns the identity that the document states, see [format.Identity]; "" if it states none.
func (e *Export) identity(f *os.File) string {
	if e.Codec.Identify == nil {
		return ""
	}
	if e.Codec.Place != nil {
		place, err := e.placeOf(f, 0)
		if err != nil {
			return ""
		}
		return place.ID
	}
	info, err := f.Stat()
	if err != nil || e.Codec.Open == nil {
		return ""
	}
	for s, err := range e.Codec.Open(format.File{Path: f.Name(), Content: f, Size: info.Size()}) {
		if err != nil {
			return ""
		}
		return e.Codec.Identify(s.Header).ID
	}
	return ""
}

// Is reports whether the document consists of exactly the bytes of content.
func (e *Export) Is(content io.Reader) (bool, error) {
	exported, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.CloseWithError(e.Content(w))
	}()
	same, err := local.SameContent(exported, content)
	exported.Close() // ends an export that differs
	<-done
	return same, err
}
