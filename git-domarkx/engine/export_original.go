package engine

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

// readOriginal calls read with the newest document of a format that a session was imported from, if
// there is one.
func (m *SessionManager) readOriginal(ctx context.Context, info domarkx.Info, codec format.Codec, read func(format.File) error) error {
	origin, err := m.lastOriginal(ctx, info, codec)
	if err != nil || origin == nil {
		return err
	}
	f, err := os.CreateTemp("", "git-domarkx-*")
	if err != nil {
		return err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if err := copyOf(origin.Open)(f); err != nil {
		return err
	}
	return read(format.File{Path: info.Name, Content: f, Size: origin.Size})
}

// maxOriginalSnapshots bounds the search for an original.
const maxOriginalSnapshots = 1000

// lastOriginal returns the original of the newest snapshot that has one of a format, nil if there is
// none. Snapshots in which the front matter was changed have none, and neither have forks. Damage of an
// earlier snapshot ends the search: the session itself can be exported without it.
func (m *SessionManager) lastOriginal(ctx context.Context, info domarkx.Info, codec format.Codec) (*original.Document, error) {
	seen := 0
	for of, err := range m.store.Ancestors(ctx, info.ID) {
		var headers []domarkx.HeaderEntry
		if err == nil {
			headers, err = m.store.Header(ctx, of.ID)
		}
		if seen > 0 && (errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrNotFound)) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		for _, h := range headers {
			if h.Origin == "" {
				continue
			}
			if origin, err := m.store.Origin(ctx, h.Origin); err != nil || origin.Format == codec.Name {
				return origin, err
			}
		}
		if seen++; seen == maxOriginalSnapshots {
			break
		}
	}
	return nil, nil
}

func copyOf(open func() (io.ReadCloser, error)) func(io.Writer) error {
	return func(w io.Writer) error {
		content, err := open()
		if err != nil {
			return err
		}
		defer content.Close()
		_, err = io.Copy(w, content)
		return err
	}
}
