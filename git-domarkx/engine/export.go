package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/original"
)

// An ExportRequest describes what to export and in which format.
type ExportRequest struct {
	Revision Revision
	Format   string
	Team     string // the team that the document must belong to; "" for any
	Strict   bool   // fail if the format would lose something
	// New, if not nil, asks for a new session of the format's program, not for the document that the
	// session was imported from.
	New *format.NewSession
}

// An Export is a document that is ready to be written.
type Export struct {
	Losses format.Losses // parts of the session that the format cannot represent

	// Files lists the attached files. WriteFile and WriteIn write them beside the document.
	Files []domarkx.AttachedFile

	Name  string
	Codec format.Codec
	// Content writes the document to w.
	Content func(w io.Writer) error
	// Beside, if not nil, writes the files that belong beside a document at path, before that is written.
	Beside func(path string) error

	snapshot string // "" if importing the document does not continue the session
	first    int    // the first attempt at a path, see [format.Codec.Place]
	open     func(file domarkx.AttachedFile) (domarkx.Content, error)
}

// Write writes the document to w. It does not close w.
func (e *Export) Write(w io.Writer) error { return e.Content(w) }

// Export converts a snapshot to a document. A session that was imported from the same format and
// has not changed since is exported as the original bytes. Export returns a [*RefusedError] if
// the document belongs to another team than requested, or with Strict if it loses something.
func (m *SessionManager) Export(ctx context.Context, r ExportRequest) (*Export, error) {
	codec, err := m.Codec(r.Format)
	if err != nil {
		return nil, err
	}
	info, err := m.Resolve(ctx, r.Revision)
	if err != nil {
		return nil, err
	}
	e := &Export{Name: r.Revision.Name, snapshot: info.ID, Codec: codec}
	if r.New != nil && r.New.Aside {
		e.first = 1
	}
	switch {
	case r.Team != "" && codec.Place == nil:
		return nil, Teamless(codec.Name)
	case IsForm(codec.Name) && r.Revision.Message >= 0:
		e.Content = func(w io.Writer) error { return m.Show(ctx, r.Revision, Form(codec.Name), w) }
	case IsForm(codec.Name):
		err = m.ExportWhole(ctx, e, info, ExportRequest{})
	case r.Revision.Message >= 0:
		err = fmt.Errorf("exporting %s: %w: a document of the format %s is a whole session", r.Revision, domarkx.ErrInvalid, codec.Name)
	default:
		err = m.exportForeign(ctx, e, info, r)
	}
	if err != nil {
		return nil, err
	}
	if err := m.exportFiles(ctx, e, info, r.Revision); err != nil {
		return nil, err
	}
	if n := e.Losses.Len(); r.Strict && n > 0 {
		return e, &RefusedError{Reason: fmt.Sprintf("the format %s would lose %d things of session %q", codec.Name, n, e.Name)}
	}
	return e, nil
}

// A RefusedError explains why an operation was refused.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return e.Reason }

// Teamless returns the error for a team of a document whose format has none.
func Teamless(format string) error {
	return &RefusedError{Reason: fmt.Sprintf("a document of the format %s belongs to no team", format)}
}

// IsForm reports whether a format is one of this program's own, which can also show a single message and loses nothing.
func IsForm(name string) bool { return name == string(Markdown) || name == string(JSON) }

// ExportWhole exports a whole snapshot: the original document if the session is unchanged, a new document otherwise.
func (m *SessionManager) ExportWhole(ctx context.Context, e *Export, info domarkx.Info, r ExportRequest) error {
	original, err := m.Original(ctx, info, e.Codec)
	switch {
	case err != nil:
		return err
	case original != nil && r.New == nil:
		e.Content = copyOf(original)
		return nil
	case IsForm(e.Codec.Name):
		e.Content = func(w io.Writer) error { return m.Write(ctx, info.ID, Form(e.Codec.Name), w) }
		return nil
	}
	s, err := m.stream(ctx, info)
	if err != nil {
		return err
	}
	return Encode(e, s, format.Target{Session: e.Name, Team: r.Team, New: r.New, Losses: &e.Losses, Records: all.Records, File: m.attachedFile(ctx, info),
		Original: func(read func(format.File) error) error { return m.readOriginal(ctx, info, e.Codec, read) }})
}

// attachedFile returns a function that reads a file that a snapshot keeps under a path.
func (m *SessionManager) attachedFile(ctx context.Context, info domarkx.Info) func(path string) ([]byte, error) {
	files := sync.OnceValues(func() ([]domarkx.AttachedFile, error) { return m.store.Files(ctx, info.ID) })
	return func(path string) ([]byte, error) {
		all, err := files()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(f domarkx.AttachedFile) bool { return f.Path == path })
		if i < 0 || all[i].Size > MaxFileSize {
			return nil, fmt.Errorf("attached file %q: %w", path, domarkx.ErrNotFound)
		}
		content, err := m.store.Attachment(ctx, info.ID, all[i].SHA256)
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(io.NewSectionReader(content, 0, content.Size()))
	}
}

// exportForeign exports to a format of another program.
func (m *SessionManager) exportForeign(ctx context.Context, e *Export, info domarkx.Info, r ExportRequest) error {
	if err := m.ExportWhole(ctx, e, info, r); err != nil || r.Team == "" {
		return err
	}
	f, err := local.NewTemporary("", e.Content)
	if err != nil {
		return fmt.Errorf("finding the team of session %q: %w", e.Name, err)
	}
	defer f.Close()
	place, err := e.placeOf(f.File, 0)
	if err == nil && place.Team == "" {
		return Teamless(e.Codec.Name)
	}
	if err == nil && place.Team != r.Team {
		err = &RefusedError{Reason: fmt.Sprintf("session %q is of the team %q, not of %q", e.Name, place.Team, r.Team)}
	}
	return err
}

// Encode encodes a session in the format of another program.
func Encode(e *Export, s format.Stream, to format.Target) (err error) {
	if e.Codec.Write != nil {
		e.Content, err = e.Codec.Write(s.Header, s.Messages, to)
		return err
	}
	doc, err := s.Document()
	if err != nil {
		return err
	}
	data, err := e.Codec.Encode(doc, to)
	e.Content = func(w io.Writer) error { _, err := w.Write(data); return err }
	return err
}

// Document returns a snapshot as a document together with its Info.
func (m *SessionManager) Document(ctx context.Context, r Revision) (*domarkx.Document, domarkx.Info, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return nil, domarkx.Info{}, err
	}
	s, err := m.stream(ctx, info)
	if err != nil {
		return nil, info, err
	}
	doc, err := s.Document()
	return doc, info, err
}

// stream returns a snapshot as a document that loads its messages on demand.
func (m *SessionManager) stream(ctx context.Context, info domarkx.Info) (format.Stream, error) {
	v, err := view.Load(ctx, m.store, info.ID)
	if err != nil {
		return format.Stream{}, err
	}
	s := format.Stream{Messages: shownMessages{ctx, v}}
	s.Header, err = v.Header(ctx)
	deriveOwn(&s.Header, info)
	return s, err
}

// shownMessages loads the messages of a snapshot on demand.
type shownMessages struct {
	ctx  context.Context
	view *view.View
}

func (s shownMessages) Len() int { return s.view.Live.Len() }

func (s shownMessages) At(k int) (domarkx.WrittenMessage, error) {
	entry := s.view.Live.At(k)
	msg, err := s.view.Message(s.ctx, k)
	return domarkx.WrittenMessage{Message: msg, ID: entry.ID, Date: entry.Date}, err
}

// Original returns a function that opens the document that an unchanged session was imported from, or nil if there is none.
func (m *SessionManager) Original(ctx context.Context, info domarkx.Info, codec format.Codec) (func() (io.ReadCloser, error), error) {
	origin, headers, err := m.OriginOf(ctx, info.ID, codec)
	if err != nil || origin == nil {
		return nil, err
	}
	if codec.IsPart != nil {
		h, err := view.LoadHeader(ctx, m.store, headers)
		if err != nil || codec.IsPart(h) {
			return nil, err
		}
	}
	now, err := m.store.Conversation(ctx, info.ID)
	if err != nil || now != origin.Note {
		return nil, err
	}
	return origin.Open, nil
}

// OriginOf returns the document of a format that a snapshot was imported from, and the headers of the snapshot; nil if there is
// none, or if its header is in conflict.
func (m *SessionManager) OriginOf(ctx context.Context, snapshot string, codec format.Codec) (*original.Document, []domarkx.HeaderEntry, error) {
	headers, err := m.store.Header(ctx, snapshot)
	if err != nil || len(headers) != 1 || headers[0].Origin == "" {
		return nil, headers, err
	}
	origin, err := m.store.Origin(ctx, headers[0].Origin)
	if err != nil || origin.Format != codec.Name {
		return nil, headers, err
	}
	return origin, headers, nil
}

// readOriginal calls read with the newest document of a format that a session was imported from, if there is one.
func (m *SessionManager) readOriginal(ctx context.Context, info domarkx.Info, codec format.Codec, read func(format.File) error) error {
	origin, err := m.lastOriginal(ctx, info, codec)
	if err != nil || origin == nil {
		return err
	}
	f, err := local.NewTemporary("", copyOf(origin.Open))
	if err != nil {
		return err
	}
	defer f.Close()
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
