package web

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
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// HTML is the name of the format of pages for a browser, which can only be written.
const HTML = "html"

// pagesSuffix ends the name of the directory with the pages of a session that is too large for one page.
const pagesSuffix = ".pages"

// Export exports a snapshot as a page, or as several if it is large. cost returns the cost of a response in USD, if that is known;
// it may be nil.
func Export(ctx context.Context, sessions *engine.SessionManager, r engine.Revision, cost func(model string, u html.Usage) (float64, bool)) (*engine.Export, error) {
	p, info, err := sessions.Pages(ctx, r)
	if err != nil {
		return nil, err
	}
	p.Cost = cost
	e := &engine.Export{Name: r.Name, Codec: format.Codec{Name: HTML, Extensions: []string{".html"}}}
	if r.Message >= 0 || info.Bytes <= html.MaxText && info.Messages <= html.MaxMessages {
		e.Content = func(w io.Writer) error { return html.Write(w, p) }
		return e, nil
	}
	e.Content = func(io.Writer) error {
		return &engine.RefusedError{Reason: fmt.Sprintf("session %q has %d MB of text in %d messages, and is written as several pages; -o FILE or -o DIRECTORY/ says where", e.Name, info.Bytes>>20, info.Messages)}
	}
	e.Beside = func(path string) error {
		index, err := writePages(p, path)
		if err != nil {
			return err
		}
		e.Content = func(w io.Writer) error { _, err := w.Write(index); return err }
		return nil
	}
	return e, nil
}

// writePages writes the pages of a session into a directory beside path, the file of their index,
// and returns the index. Pages that are there already are replaced together.
func writePages(p html.Session, path string) ([]byte, error) {
	dir := strings.TrimSuffix(path, filepath.Ext(path)) + pagesSuffix
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

// onlyPages returns a [*engine.RefusedError] if a directory has files that are not pages.
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
			return &engine.RefusedError{Reason: fmt.Sprintf("%q has other files than pages of a session, such as %q; move it away, or write to another directory", dir, f.Name())}
		}
	}
	return nil
}
