package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// HTML is the name of the format of pages for a browser, which can only be written.
const HTML = "html"

// PagesSuffix ends the name of the directory with the pages of a session that is too large for
// one page.
const PagesSuffix = ".pages"

// Pages returns a snapshot as it is shown in a browser.
func (m *SessionManager) Pages(ctx context.Context, r Revision) (html.Session, domarkx.Info, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return html.Session{}, info, err
	}
	v, err := view.Load(ctx, m.store, info.ID)
	if err != nil {
		return html.Session{}, info, err
	}
	header, err := v.Header(ctx)
	if err != nil {
		return html.Session{}, info, err
	}
	linked, err := m.linked(ctx, info.ID, v.Live)
	if err != nil {
		return html.Session{}, info, err
	}
	p := html.Session{Name: r.Name, Snapshot: info.ID, Header: header, Messages: shownMessages{ctx, v}, File: m.attachedFile(ctx, info), Version: func(k int) string {
		if link := v.Live.At(k).Link; linked[link] {
			return link
		}
		return ""
	}, Size: func(k int) int64 { return v.Layout(k + 1).Size }}
	if r.Message >= 0 {
		if r.Message >= p.Messages.Len() {
			return html.Session{}, info, fmt.Errorf("%s: %w: the snapshot has %d messages", r, domarkx.ErrNotFound, p.Messages.Len())
		}
		p.Messages = oneMessage{p.Messages, r.Message}
	}
	return p, info, nil
}

// oneMessage is a list of one message of another list.
type oneMessage struct {
	all format.Messages
	k   int
}

func (oneMessage) Len() int { return 1 }

func (o oneMessage) At(int) (domarkx.WrittenMessage, error) { return o.all.At(o.k) }

// exportHTML exports a snapshot as a page, or as several if it is large.
func (m *SessionManager) exportHTML(ctx context.Context, r ExportRequest) (*Export, error) {
	codec := format.Codec{Name: HTML, Extensions: []string{".html"}}
	if r.Team != "" {
		return nil, teamless(codec)
	}
	p, info, err := m.Pages(ctx, r.Revision)
	if err != nil {
		return nil, err
	}
	p.Cost = r.Cost
	e := &Export{Name: r.Revision.Name, snapshot: info.ID, Codec: codec}
	if r.Revision.Message >= 0 || info.Bytes <= html.MaxText && info.Messages <= html.MaxMessages {
		e.write = func(w io.Writer) error { return html.Write(w, p) }
		return e, nil
	}
	e.write = func(io.Writer) error {
		return &RefusedError{Reason: fmt.Sprintf("session %q has %d MB of text in %d messages, and is written as several pages; -o FILE or -o DIRECTORY/ says where", e.Name, info.Bytes>>20, info.Messages)}
	}
	e.beside = func(path string) error {
		index, err := writePages(p, path)
		if err != nil {
			return err
		}
		e.write = func(w io.Writer) error { _, err := w.Write(index); return err }
		return nil
	}
	return e, nil
}

// writePages writes the pages of a session into a directory beside path, the file of their index,
// and returns the index. Pages that are there already are replaced together.
func writePages(p html.Session, path string) ([]byte, error) {
	dir := strings.TrimSuffix(path, filepath.Ext(path)) + PagesSuffix
	if err := onlyPages(dir); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(filepath.Dir(dir), ".git-domarkx-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	if err := os.Chmod(aside, 0o755); err != nil {
		return nil, err
	}
	index, err := html.WritePages(p, filepath.Base(dir), "../"+filepath.Base(path), func(name string, data []byte) error {
		f, err := os.OpenFile(filepath.Join(aside, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Sync(), f.Close())
	})
	if err != nil {
		return nil, err
	}
	return index, errors.Join(atomicfile.SyncDir(aside), exchange(aside, dir), atomicfile.SyncDir(filepath.Dir(dir)))
}

// exchange renames a directory. It removes a directory that already has the new name.
func exchange(aside, dir string) error {
	old, err := os.MkdirTemp(filepath.Dir(dir), ".git-domarkx-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(old)
	if err := os.Rename(dir, filepath.Join(old, "pages")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(aside, dir)
	if err != nil {
		_ = os.Rename(filepath.Join(old, "pages"), dir) // back to where it was, if there was one
	}
	return err
}

// onlyPages returns a [*RefusedError] if a directory has files that are not pages.
func onlyPages(dir string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if !html.IsPage(f.Name()) || !f.Type().IsRegular() {
			return &RefusedError{Reason: fmt.Sprintf("%q has other files than pages of a session, such as %q; move it away, or write to another directory", dir, f.Name())}
		}
	}
	return nil
}
