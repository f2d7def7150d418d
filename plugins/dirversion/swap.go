package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// Other programs save files while a load replaces them. So the load of an observed directory never
// overwrites and never unlinks a file there: it exchanges the file with the new one, which it wrote
// elsewhere, or moves the file away, and then looks at what came out. If that is not what the last
// commit read, or a program still has it open for writing, it is put back. What came out is looked
// at once more at the end of the load, and removed then. Where files cannot be exchanged, they are
// moved away first, and are missing for an instant. Other systems than Linux check only before they
// replace a file.

const (
	// tempAge is the age until which a file may be the temporary file of a program that will rename
	// it in a moment. Such files are not removed before.
	tempAge = 100 * time.Millisecond
	// settleTime is how long the last file that came out is kept at least: a program may have looked
	// up its name before, and open it for writing only now.
	settleTime = 50 * time.Millisecond
	// blindTime replaces settleTime where the system does not say which files are open for writing.
	blindTime = 500 * time.Millisecond
	// maxSwaps limits how often a file is exchanged while programs save it again and again.
	maxSwaps = 50
)

// place moves a new file to a name, in place of the file was (nil for none). It reports whether another program's
// file is there instead, because that program changed or created it meanwhile.
func (a *aside) place(ctx context.Context, d *beneath.Dir, at, scratch string, was *record) (changed bool, err error) {
	_, name := split(at)
	ours, err := a.d.Stat(scratch)
	if err != nil {
		return false, err
	}
	e := &swapped{Scratch: scratch, Path: at, Ours: stampOf(ours), ours: &record{name: name, stat: ours}, was: was}
	if was != nil {
		e.Was = stampOf(was.stat)
		e.Racy = was.racy
	}
	if err := a.note(e); err != nil {
		return false, errors.Join(err, a.d.Unlink(scratch))
	}
	if was == nil {
		err := a.d.MoveNew(scratch, d, name)
		if errors.Is(err, fs.ErrExist) {
			return true, a.d.Unlink(scratch)
		}
		return false, err
	}
	return a.swap(ctx, d, e, e.was)
}

// take moves a file away. It reports whether the file stays because another program changed it.
func (a *aside) take(ctx context.Context, d *beneath.Dir, at string, was *record) (changed bool, err error) {
	if wait := time.Until(time.Unix(0, max(was.stat.Ctime, was.stat.Mtime)).Add(tempAge)); wait > 0 && wait <= tempAge {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	_, name := split(at)
	e := &swapped{Scratch: scratchName(), Path: at, Was: stampOf(was.stat), Racy: was.racy, was: was}
	if err := a.note(e); err != nil {
		return false, err
	}
	err = d.MoveTo(name, a.d, e.Scratch)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if a.unchanged(ctx, e.Scratch, was) {
		a.keep(e)
		return false, nil
	}
	return true, a.putBack(ctx, d, e)
}

// swap exchanges the file at e.Scratch with the file in place until what comes out is what went in
// last: at first the file expected. Anything else is newer, and belongs in place. It reports
// whether another file than the one that was at e.Scratch is in place then.
func (a *aside) swap(ctx context.Context, d *beneath.Dir, e *swapped, expected *record) (changed bool, err error) {
	_, name := split(e.Path)
	for n := range maxSwaps {
		st, err := a.d.Stat(e.Scratch)
		if err != nil {
			return n > 0, err
		}
		in := &record{name: name, stat: st}
		if e.ours != nil && st.Moved(e.ours.stat) {
			in = e.ours
		}
		if err := a.exchange(ctx, d, e); errors.Is(err, fs.ErrNotExist) { // another program removed the file
			if err := a.d.MoveNew(e.Scratch, d, name); !errors.Is(err, fs.ErrExist) {
				return n > 0, err
			}
			continue
		} else if err != nil {
			return n > 0, errors.Join(err, a.drop(ctx, e, in))
		}
		if a.unchanged(ctx, e.Scratch, expected) {
			if n == 0 && expected == e.was {
				a.keep(e)
				return false, nil
			}
			return n > 0, a.drop(ctx, e, expected)
		}
		expected = in
		time.Sleep(time.Duration(n) * time.Millisecond)
	}
	return true, a.drop(ctx, e, nil)
}

// putBack moves a file that came out back to its place. It keeps the file elsewhere if that is not possible.
func (a *aside) putBack(ctx context.Context, d *beneath.Dir, e *swapped) error {
	_, name := split(e.Path)
	if e.ours != nil {
		_, err := a.swap(ctx, d, e, e.ours)
		return err
	}
	if err := a.d.MoveNew(e.Scratch, d, name); err != nil { // for example, saved again meanwhile
		return a.drop(ctx, e, nil)
	}
	return nil
}

// drop removes the file at e.Scratch if a version has it or this load wrote it. Otherwise it keeps the file under
// another name, and says where.
func (a *aside) drop(ctx context.Context, e *swapped, known *record) error {
	if known != nil && (known == e.ours || known == e.was) && a.unchanged(ctx, e.Scratch, known) {
		return a.d.Unlink(e.Scratch)
	}
	kept := keptPrefix + e.Scratch
	if err := a.d.MoveNew(e.Scratch, a.d, kept); errors.Is(err, fs.ErrNotExist) {
		return nil // it is in place
	} else if err != nil {
		a.stuck.Store(true)
		return err
	}
	a.warn(fmt.Sprintf("what another program saved as %s before it saved the file again is kept as %q", quoted(e.Path), a.pathOf(kept)))
	return nil
}

// unchanged reports whether a file is the one that a record describes, and no program has it open for
// writing.
func (a *aside) unchanged(ctx context.Context, name string, r *record) bool {
	st, err := a.d.Stat(name)
	if err != nil || r == nil {
		return false
	}
	expected, renumbered := r.stat, st.Ino != r.stat.Ino
	if expected.Ino = st.Ino; !expected.Moved(st) {
		return false
	}
	if st.Kind != domarkx.Regular {
		target, err := a.d.Readlink(name)
		return !renumbered || err == nil && target == r.target && r.target != ""
	}
	f, err := a.d.OpenFile(name)
	if err != nil {
		return false
	}
	defer f.Close()
	switch open, err := f.HasWriter(); {
	case err != nil:
		a.blind.Store(true)
	case open:
		return false
	}
	// On overlayfs, renaming can give a file another inode number.
	if r.racy || renumbered {
		if r.id == "" || a.read == nil || !a.sameContent(ctx, f, r.id) {
			return false
		}
	}
	after, err := f.Stat() // a write before the check for writers is visible here
	return err == nil && after.Moved(st)
}

func (a *aside) sameContent(ctx context.Context, f *beneath.File, id string) bool {
	c, err := a.read.Content(ctx, id)
	if err != nil {
		return false
	}
	defer c.Close()
	same, err := equalReaders(ctx, f, io.NewSectionReader(c, 0, c.Size()))
	return same && err == nil
}

// settle looks again at all files that came out, and removes the unchanged ones. It returns the
// paths of the others, which it puts back.
func (a *aside) settle(ctx context.Context, top *beneath.Dir) (changed []string, err error) {
	ctx = context.WithoutCancel(ctx)
	if len(a.out) > 0 {
		wait := settleTime
		if a.blind.Load() {
			wait = blindTime
		}
		time.Sleep(time.Until(a.last.Add(wait)))
	}
	for _, e := range a.out {
		again, serr := a.settleOne(ctx, top, e)
		if err = errors.Join(err, explain(e.Path, serr)); again {
			changed = append(changed, e.Path)
		}
	}
	a.out = nil
	return changed, err
}

func (a *aside) settleOne(ctx context.Context, top *beneath.Dir, e *swapped) (changed bool, err error) {
	directory, _ := split(e.Path)
	d, err := top.Open(directory)
	if err == nil {
		defer d.Close()
	}
	if a.unchanged(ctx, e.Scratch, e.was) {
		return false, a.d.Unlink(e.Scratch)
	}
	if _, serr := a.d.Stat(e.Scratch); errors.Is(serr, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil { // its directory is gone
		return true, a.drop(ctx, e, nil)
	}
	return true, a.putBack(ctx, d, e)
}
