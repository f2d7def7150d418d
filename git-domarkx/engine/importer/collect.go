package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/homes"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A collector finds the documents that the paths of a request name.
type collector struct {
	Request
	manager   *Manager
	as        string           // session name that the user gave; "" if there are several documents
	input     *local.Temporary // content of standard input, after it was read
	others    int              // number of files in directories that are not sessions
	homes     []*homes.Home
	databases map[string]*opencodedb.DB           // open databases, by path
	listed    map[string][]opencode.StoredSession // sessions in the open databases
	known     *sources.Record                     // record of imports as it was before this import; nil for none
}

func (m *Manager) collector(r Request) *collector {
	c := &collector{Request: r, manager: m, databases: map[string]*opencodedb.DB{}, listed: map[string][]opencode.StoredSession{}}
	if len(r.Paths) == 1 {
		c.as = r.As
	}
	return c
}

// A found is a document to import that was not read yet.
type found struct {
	path  string
	key   string // in the record of imports: absolute path, "-:NAME", or format name and identity
	stamp string // its state when it was found, see [document.Stamp]
	as    string // name of the session that the user gave; "" if none was given
	name  string // name of the session, before it is mapped to a valid one
	saved format.Saving
	home  *homes.Home // agent home that contains it; nil for none
	named bool        // whether the user named it, and not a directory with it
	late  bool        // whether all other documents were imported before

	always bool // whether to replace its secrets, because one of its branches is redacted
	row    row  // session in a database; empty for a file
}

// find returns the documents of the request. Documents that are saves of one session are in the order of their
// times. find calls bad for each path that cannot be read, and continues with the others.
func (c *collector) find(ctx context.Context, bad func(error)) ([]found, error) {
	var all []found
	for _, path := range c.Paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info, err := os.Stat(path)
		var inside []found
		database, session, isRow := opencodedb.Split(path)
		switch {
		case isRow:
			inside, err = c.database(ctx, database, session)
		case path == "-":
			if err := c.readInput(); err != nil {
				return nil, err
			}
			inside, err = []found{{path: path, key: "-:" + c.As, as: c.As, name: c.As}}, nil
		case err != nil:
			err = fmt.Errorf("%s: %w", path, local.PathError(err))
		case info.IsDir() && opencodedb.IsStorage(path):
			inside, err = c.database(ctx, path, "")
		case info.IsDir():
			if inside, err = c.directory(ctx, path, bad); err != nil {
				return nil, err
			}
		case !info.Mode().IsRegular(): // opening a FIFO would block until a writer opens it
			err = fmt.Errorf("%s: %w: not a regular file; pass its content on standard input, as -", path, domarkx.ErrInvalid)
		case c.Recognized:
			inside, err = c.recognize(ctx, path, filepath.Base(path), "", nil)
		default:
			inside, err = c.file(ctx, path, info, len(c.Paths) == 1)
		}
		if err != nil {
			bad(err)
		}
		all = append(all, inside...)
	}
	inOrder(all)
	return all, nil
}

// readInput reads standard input to its end, into a file, because it may be large.
func (c *collector) readInput() (err error) {
	if c.input == nil {
		c.input, err = local.NewTemporary("", func(w io.Writer) error { _, err := io.Copy(w, c.Stdin); return err })
	}
	if err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return nil
}

// at returns the document in a file.
func (c *collector) at(path, relative string, info os.FileInfo) (found, error) {
	key, err := local.CanonicalPath(path)
	if err != nil {
		return found{}, fmt.Errorf("%s: %w", path, local.PathError(err))
	}
	return found{path: path, key: key, stamp: document.Stamp(info, time.Now()), as: c.as, name: c.nameOf(relative)}, nil
}

// file returns the document in a file that the user named, or the documents of a database.
func (c *collector) file(ctx context.Context, path string, info os.FileInfo, alone bool) ([]found, error) {
	f, err := c.at(path, filepath.Base(path), info)
	if err != nil {
		return nil, err
	}
	f.named = true
	head, err := document.HeadOf(path)
	switch {
	case err != nil: // the import reports the error when it opens the file
	case sqlite3.IsDatabase(head):
		return c.database(ctx, path, "")
	case !alone:
		c.note(&f, head)
	}
	return []found{f}, nil
}

// recognize is like file, for a file that the user did not name. It returns nothing for a file of an unknown format, or one
// of a home that is not a document. name is that which formats may recognize it by.
func (c *collector) recognize(ctx context.Context, path, relative, name string, home *homes.Home) ([]found, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, local.PathError(err))
	}
	f, err := c.at(path, filepath.FromSlash(relative), info)
	if err != nil {
		return nil, err
	}
	if f.home = home; home == nil && c.known != nil && c.as == "" && f.isAsRecorded(c.known.Get(f.key), c.Format) {
		return []found{f}, nil
	}
	head, err := document.HeadOf(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, local.PathError(err))
	}
	if sqlite3.IsDatabase(head) {
		inside, err := c.database(ctx, path, "")
		if errors.Is(err, domarkx.ErrUnsupported) {
			c.others++
			err = nil
		}
		return inside, err
	}
	codec, ok := format.Detect(c.manager.codecs, head, name)
	if home != nil && !home.IsDocument(relative, codec) {
		return nil, nil
	}
	if !ok {
		c.others++
		return nil, nil
	}
	c.note(&f, head)
	return []found{f}, nil
}

// note sets the save time of f from the beginning of the document.
func (c *collector) note(f *found, head []byte) {
	codec, err := c.codec(f.path, head)
	if err != nil || codec.SavedAt == nil {
		return
	}
	saved, ok := codec.SavedAt(head, f.path)
	if !ok && len(head) == format.HeadSize {
		saved.At = savedAt(codec, f.path)
	}
	f.saved = saved
}

// savedAt reads a whole document to find out when it was saved. It returns 0 if that is unknown. It is for documents
// whose beginning does not contain the time.
func savedAt(codec format.Codec, path string) int64 {
	content, err := document.Open(path)
	if err != nil {
		return 0
	}
	defer content.Close()
	for conv, err := range content.Conversations(codec, path, nil) {
		if err != nil || codec.Identify == nil {
			return 0
		}
		return codec.Identify(conv.Doc.Header).Saved
	}
	return 0
}

// inOrder sorts the documents with a save time by that time. If the sessions of all of these are known, it also groups
// them by session. The other documents keep their positions.
func inOrder(all []found) {
	var at []int
	var saves []found
	grouped := true
	for i, f := range all {
		if f.saved != (format.Saving{}) {
			at, saves = append(at, i), append(saves, f)
			grouped = grouped && f.saved.Group != ""
		}
	}
	slices.SortStableFunc(saves, func(a, b found) int {
		if order := strings.Compare(a.saved.Group, b.saved.Group); grouped && order != 0 {
			return order
		}
		return cmp.Compare(a.saved.At, b.saved.At)
	})
	for i, f := range saves {
		all[at[i]] = f
	}
}

// open opens a document. Its error is a *documentError, unless standard input cannot be read.
func (c *collector) open(ctx context.Context, f found) (in input, err error) {
	switch {
	case f.path == "-":
		in.found = f
		var info os.FileInfo
		if info, err = c.input.Stat(); err == nil {
			in.Content = document.New(c.input, info.Size())
		}
	case f.row.database != "":
		in, err = c.readRow(ctx, f)
	default:
		in.found = f
		if in.Content, err = document.Open(f.path); err == nil {
			in.stamp = in.Stamp
		}
		err = local.PathError(err)
	}
	if err != nil {
		return input{}, &documentError{fmt.Errorf("%s: %w", f.path, err)}
	}
	head, err := in.Head()
	if err != nil {
		err = fmt.Errorf("%s: %w", f.path, local.PathError(err))
	} else if f.row.database == "" {
		in.codec, err = c.codec(f.path, head)
	}
	if err != nil {
		in.Close()
		return input{}, &documentError{err}
	}
	in.insists = c.Format != ""
	return in, nil
}

// A documentError is an error of one document. The import continues with the others.
type documentError struct{ error }

func (e *documentError) Unwrap() error { return e.error }

func (c *collector) nameOf(relative string) string {
	if c.as != "" {
		return c.as
	}
	relative = strings.TrimSuffix(relative, ".zst")
	return strings.TrimSuffix(filepath.ToSlash(relative), filepath.Ext(relative))
}

// codec returns the codec that the user named, or the one that recognizes the document, or else that of Markdown.
func (c *collector) codec(path string, data []byte) (format.Codec, error) {
	if c.Format != "" {
		return c.manager.sessions.Codec(c.Format)
	}
	if codec, ok := format.Pick(c.manager.codecs, data[:min(len(data), format.HeadSize)], path); ok {
		return codec, nil
	}
	return c.manager.sessions.Codec(string(engine.Markdown))
}

// ignored reports for each path whether Git ignores it. Paths may be relative.
func (m *Manager) ignored(ctx context.Context, paths []string) ([]bool, error) {
	answer := make([]bool, len(paths))
	if m.store == nil {
		return answer, nil
	}
	absolute := make([]string, len(paths))
	for i, path := range paths {
		var err error
		if absolute[i], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	found, err := m.store.Git().Ignored(ctx, absolute)
	for i, path := range absolute {
		answer[i] = found[path]
	}
	return answer, err
}
