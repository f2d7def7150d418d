package dirversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// An aside is where the load of an observed directory writes new files, and keeps the files that these replace
// until it ends. That is [Observe].Aside, or a directory below the observed one that Git ignores if
// files cannot be renamed between the two. After a kill, the next Open puts files back that are in no
// version, and removes the others.
type aside struct {
	path    string       // of the directory with the journal
	d       *beneath.Dir // the directory with the files
	inside  string       // its name in the observed directory; "" if it is not there
	journal *os.File
	read    domarkx.VersionReader // nil while recovering
	warn    func(string)
	blind   atomic.Bool // whether the system did not say which files are open for writing
	plain   atomic.Bool // whether the file system cannot exchange files
	stuck   atomic.Bool // whether a file could neither be put back nor kept

	mu   sync.Mutex
	out  []*swapped // files that came out
	last time.Time  // when the last one did
}

// A swapped is a line of the journal: a file that is about to be moved to its place, and a file that comes
// out of there.
type swapped struct {
	In      string `json:"in,omitempty"` // only in the first line: the name of the directory with the files
	Scratch string `json:"scratch,omitempty"`
	Path    string `json:"path,omitempty"`
	Ours    *stamp `json:"ours,omitempty"` // the file that goes in; nil for none
	Was     *stamp `json:"was,omitempty"`  // the file that the last commit read; nil for none
	Racy    bool   `json:"racy,omitempty"` // whether Was does not show each change

	ours, was *record
}

// A stamp is what identifies an unchanged file in the journal.
type stamp struct {
	Kind  domarkx.FileType `json:"kind"`
	Mode  uint32           `json:"mode"`
	Inode uint64           `json:"inode"`
	Size  int64            `json:"size"`
	Time  int64            `json:"time"`
}

func stampOf(s beneath.Stat) *stamp { return &stamp{s.Kind, s.Mode, s.Ino, s.Size, s.Mtime} }

func (s *stamp) record(racy bool) *record {
	if s == nil {
		return nil
	}
	return &record{racy: racy, stat: beneath.Stat{Kind: s.Kind, Mode: s.Mode, Identity: beneath.Identity{Ino: s.Inode}, Size: s.Size, Mtime: s.Time}}
}

const (
	journalName = "journal"
	keptPrefix  = "kept-"
)

// newAside opens the journal with a further flag.
func (f *Directory) newAside(flag int) (*aside, error) {
	a := &aside{path: f.observe.Aside, warn: f.warn}
	a.plain.Store(f.observe.plain)
	var err error
	a.journal, err = os.OpenFile(filepath.Join(a.path, journalName), os.O_APPEND|os.O_RDWR|flag, 0o600)
	return a, err
}

// openAside prepares the replacing of files in an observed directory.
func (f *Directory) openAside(r domarkx.VersionReader) (a *aside, err error) {
	if err = os.MkdirAll(f.observe.Aside, 0o700); err == nil {
		a, err = f.newAside(os.O_CREATE)
	}
	if err == nil {
		a.read = r
		a.d, err = beneath.Open(a.path)
	}
	if err == nil && !a.d.MovesTo(f.top) {
		err = errors.Join(a.d.Close(), a.openInside(f))
	}
	if err != nil {
		return nil, fmt.Errorf("preparing to replace files: %w", err)
	}
	return a, nil
}

// openInside makes a directory that Git ignores below the observed one.
func (a *aside) openInside(f *Directory) (err error) {
	a.inside = scratchName()
	if err := a.note(&swapped{In: a.inside}); err != nil {
		return err
	}
	if err := f.top.Mkdir(a.inside); err != nil {
		return err
	}
	if a.d, err = f.top.Open(a.inside); err != nil {
		return err
	}
	f.inside[a.inside] = true
	rules, err := a.d.Create(".gitignore")
	if err != nil {
		return err
	}
	_, err = rules.WriteAt([]byte("*\n"), 0)
	return errors.Join(err, rules.Close())
}

// pathOf returns where a file of the directory is, for messages.
func (a *aside) pathOf(name string) string {
	if a.inside != "" {
		return a.inside + "/" + name
	}
	return filepath.Join(a.path, name)
}

// note adds a line to the journal. It must be there before any file is moved.
func (a *aside) note(e *swapped) error {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = a.journal.Write(append(line, '\n'))
	}
	return err
}

// keep notes that a file came out that has to be looked at again.
func (a *aside) keep(e *swapped) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out, a.last = append(a.out, e), time.Now()
}

// close removes the files that are not needed any more, after settle: files that no line of the journal names were not in
// place yet.
func (a *aside) close(f *Directory) error {
	if a.stuck.Load() {
		return errors.Join(a.d.Close(), a.journal.Close()) // the next command tries again
	}
	names, err := a.d.Names()
	for _, name := range names {
		if isScratch(name) {
			err = errors.Join(err, a.d.Unlink(name))
		}
	}
	if a.inside != "" && !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, keptPrefix) }) {
		err = errors.Join(err, a.d.Unlink(".gitignore"), f.top.Rmdir(a.inside))
	}
	return errors.Join(err, a.journal.Close(), a.d.Close(), os.Remove(a.journal.Name()))
}

// exchange exchanges e.Scratch with the file in place. If the file system cannot do that in one step, what
// comes out has another name then, which becomes e.Scratch.
func (a *aside) exchange(ctx context.Context, d *beneath.Dir, e *swapped) error {
	_, name := split(e.Path)
	if !a.plain.Load() {
		err := a.d.Exchange(e.Scratch, d, name)
		if !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		a.plain.Store(true)
	}
	var out *swapped
	for range maxSwaps {
		next := *e
		next.Scratch = scratchName()
		if err := a.note(&next); err != nil {
			return err
		}
		switch err := d.MoveTo(name, a.d, next.Scratch); {
		case err == nil && out != nil: // a program created the file again
			if err := a.drop(ctx, out, out.was); err != nil {
				return err
			}
			fallthrough
		case err == nil:
			out = &next
		case out == nil || !errors.Is(err, fs.ErrNotExist):
			return err
		}
		err := a.d.MoveNew(e.Scratch, d, name)
		if err == nil {
			e.Scratch = out.Scratch
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("another program creates it again and again: %w", domarkx.ErrConflict)
}

// recover completes a load that was killed: files that it moved out and that no version contains are put back.
func (f *Directory) recover(ctx context.Context) error {
	if f.observe.Aside == "" || !beneath.CanMove {
		return nil
	}
	a, err := f.newAside(0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err = a.complete(ctx, f); err == nil && a.d != nil {
			return a.close(f)
		}
		a.journal.Close()
	}
	if err != nil {
		return fmt.Errorf("completing a load that was killed: %w", err)
	}
	return nil
}

// complete puts back what the journal names. It removes the journal if the directory with the files is gone.
func (a *aside) complete(ctx context.Context, f *Directory) (err error) {
	var moved []*swapped
	for lines := json.NewDecoder(a.journal); ; {
		e := &swapped{}
		if err := lines.Decode(e); err != nil {
			break // the end, or a line that was not completed, so that nothing was moved
		}
		if e.In == "" {
			moved = append(moved, e)
		} else if a.inside = e.In; !isScratch(a.inside) {
			return fmt.Errorf("%s: %q: %w", a.journal.Name(), a.inside, domarkx.ErrCorrupt)
		}
	}
	if a.inside == "" {
		a.d, err = beneath.Open(a.path)
	} else if a.d, err = f.top.Open(a.inside); errors.Is(err, fs.ErrNotExist) {
		return os.Remove(a.journal.Name())
	}
	for _, e := range moved {
		if err == nil {
			err = explain(e.Path, a.again(ctx, f.top, e))
		}
	}
	return err
}

// again decides about a file that a killed load may have left.
func (a *aside) again(ctx context.Context, top *beneath.Dir, e *swapped) error {
	if !isScratch(e.Scratch) {
		return fmt.Errorf("%q: %w", e.Scratch, domarkx.ErrCorrupt)
	}
	e.ours, e.was = e.Ours.record(false), e.Was.record(e.Racy)
	if e.ours != nil && a.unchanged(ctx, e.Scratch, e.ours) {
		return a.d.Unlink(e.Scratch)
	}
	_, err := a.settleOne(ctx, top, e)
	return err
}

// isScratch reports whether scratchName may have returned a name.
func isScratch(name string) bool {
	return strings.HasPrefix(name, scratchPrefix) && !strings.ContainsAny(name, "/\x00")
}
