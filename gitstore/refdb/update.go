package refdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Change is the change of one reference from one object to another. Both are hexadecimal ids.
type Change struct {
	Ref string `json:"ref"`
	Old string `json:"old"` // "" if the reference must not exist
	New string `json:"new"` // "" to remove the reference and its reflog
}

// manyRefs is the number of changes above which one sync of the whole file system replaces a sync of each reference.
const manyRefs = 8

// Update makes all changes, or none if one cannot be made. The caller holds the repository's lock ([Refs.Lock]), and the new
// objects are durable. When Update returns nil, the changes survive a crash of the machine. If the process is killed during
// Update, the next process that takes the lock finishes the changes, or undoes them if it cannot.
//
// A change whose Old and New are equal only checks the reference's value. Update writes reason to the reflogs, with the
// current time even if GIT_COMMITTER_DATE is set.
//
// Update returns [domarkx.ErrConflict] if a reference does not have its old value, [domarkx.ErrExists] if one reference would
// be a directory of another, [domarkx.ErrInvalid] for a reference that this program must not change or that is listed twice,
// [domarkx.ErrReadOnly] if the repository is not writable, or an error of git, for example if a hook refuses the change.
func (r *Refs) Update(ctx context.Context, reason string, changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	if !r.held.Load() {
		return errors.New("changing references: the repository's lock is not held")
	}
	if err := checkChanges(changes); err != nil {
		return err
	}
	var err error
	for range staleAttempts {
		if err = r.compare(changes); err != nil {
			return err
		}
		err = r.update(ctx, oneLine(reason), changes)
		switch {
		case ctx.Err() != nil:
			return err
		case sawLeftPacked(err):
			err = errors.Join(err, r.unlockPacked(ctx, time.Time{}))
		case !sawStale(err):
			return err
		}
	}
	return err
}

// staleAttempts is how often Update tries a change that git refuses because of an outdated value or a file that is left.
const staleAttempts = 5

// sawStale reports whether git refused a change because it read an outdated value of a reference. This happens when a
// concurrent git pack-refs removes the loose file after git has read the old packed-refs. Another value of the reference is
// not the cause, since [Refs.compare] has found the expected one before and after: that error would be a conflict.
func sawStale(err error) bool {
	var refused *gitcmd.Error
	return errors.As(err, &refused) && !errors.Is(err, domarkx.ErrConflict) && strings.Contains(refused.Stderr, " but expected ")
}

// sawLeftPacked reports whether git refused a change because a git that was killed left the file packed-refs.new, and not its lock.
func sawLeftPacked(err error) bool {
	var refused *gitcmd.Error
	return errors.As(err, &refused) && strings.Contains(refused.Stderr, "packed-refs.new: File exists")
}

// update tries once to make the changes.
func (r *Refs) update(ctx context.Context, reason string, changes []Change) error {
	if err := r.unlockStale(ctx, changes); err != nil {
		return err
	}
	// The journal must survive a power failure if that may leave only some of the changes, or the lock file of packed-refs,
	// which a removal takes and which would block changes of all references.
	durable := len(changes) > 1 || slices.ContainsFunc(changes, func(c Change) bool { return c.New == "" })
	e, err := r.begin(record{Reason: reason, Changes: changes}, durable)
	if err != nil {
		return err
	}
	if err := r.apply(ctx, e, changes); err != nil {
		return r.afterFailure(ctx, e, err)
	}
	r.noteWritten(changes)
	if err := r.makeDurable(changes); err != nil {
		e.leave()
		return fmt.Errorf("syncing references: %w", err)
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("changing references: %w", err)
	}
	if durable {
		// Without this, the journal file could exist again after a crash, and undo later changes.
		return atomicfile.SyncDir(r.journalDir())
	}
	return nil
}

// fewTables is the number of tables of the reftable backend from which git merges tables of equal sizes, as it does by default
// after most changes. That takes two syncs more, while a few tables more hardly delay a git that reads them.
const fewTables = 10

// applyOnce makes changes in one transaction of git update-ref.
func (r *Refs) applyOnce(ctx context.Context, e *entry, changes []Change) error {
	var input strings.Builder
	for _, c := range changes {
		switch {
		case c.New == c.Old:
			input.WriteString("verify " + c.Ref + "\x00" + c.New + "\x00")
		case c.Old == "":
			input.WriteString("create " + c.Ref + "\x00" + c.New + "\x00")
		case c.New == "":
			input.WriteString("delete " + c.Ref + "\x00" + c.Old + "\x00")
		default:
			input.WriteString("update " + c.Ref + "\x00" + c.New + "\x00" + c.Old + "\x00")
		}
	}
	sync := "core.fsync=committed,loose-object,reference"
	if oneSync(changes) && !r.git.Reftable {
		sync = "core.fsync=objects,-reference"
	}
	args := []string{
		"-c", sync,
		"-c", fmt.Sprintf("core.filesRefLockTimeout=%d", r.patience.Milliseconds()), "-c", "core.packedRefsTimeout=5000", // milliseconds to wait for another git
		"-c", fmt.Sprintf("reftable.lockTimeout=%d", r.patience.Milliseconds()),
	}
	if list, err := r.tables(); r.git.Reftable && err == nil && strings.Count(list, "\n") < fewTables {
		args = append(args, "-c", "reftable.geometricFactor=1")
	}
	args = append(args, "update-ref", "--no-deref")
	if !manyNew(changes) {
		args = append(args, "--create-reflog")
	}
	if e.Reason != "" {
		args = append(args, "-m", e.Reason)
	}
	_, err := r.git.Do(ctx, gitcmd.Command{
		Args:    append(args, "--stdin", "-z"),
		Stdin:   strings.NewReader(input.String()),
		Env:     []string{"GIT_COMMITTER_DATE"},
		Inherit: inherited(e.file),
	})
	return err
}

// afterFailure finishes or undoes the changes of an entry after git has failed. It returns nil if they are finished, and
// otherwise why git failed. If it can neither finish nor undo them now, it leaves the journal file for the next process.
func (r *Refs) afterFailure(ctx context.Context, e *entry, failed error) error {
	ctx = context.WithoutCancel(ctx)
	done, err := r.settle(ctx, e)
	if err != nil {
		e.leave()
		return fmt.Errorf("changing references: %w; finishing or undoing the change: %w", failed, err)
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("changing references: %w", err)
	}
	if done {
		return nil // git was interrupted, and settle has made the rest of the changes
	}
	return r.explain(e.Changes, failed)
}

// explain returns the cause of git's failure as an error that callers distinguish with errors.Is, if it is one of those.
func (r *Refs) explain(changes []Change, failed error) error {
	if err := r.compare(changes); err != nil {
		return err
	}
	if err := r.checkDirectories(changes); err != nil {
		return err
	}
	if isFull(r.common) {
		failed = fmt.Errorf("%w: %w", failed, errFull) // git's message does not say so
	}
	return readOnly("changing references", failed)
}

// compare returns an error for the first reference that does not have its old value.
func (r *Refs) compare(changes []Change) error {
	for _, c := range changes {
		id, _, err := r.Read(c.Ref)
		if err != nil {
			return err
		}
		if id != c.Old {
			return fmt.Errorf("the reference %q is at %s, not at %s: %w", c.Ref, cmp.Or(id, "nothing"), cmp.Or(c.Old, "nothing"), domarkx.ErrConflict)
		}
	}
	return nil
}

// checkDirectories returns [domarkx.ErrExists] if a new reference would be a directory of another one, or the reverse.
func (r *Refs) checkDirectories(changes []Change) error {
	added := map[string]bool{}
	for _, c := range changes {
		if c.New != "" {
			added[c.Ref] = true
		}
	}
	for _, c := range changes {
		if c.Old != "" || c.New == "" {
			continue
		}
		below, err := r.List(c.Ref + "/")
		if err != nil {
			return err
		}
		if len(below) > 0 {
			return clash(c.Ref, below[0].Name)
		}
		for above := path.Dir(c.Ref); above != "refs"; above = path.Dir(above) {
			_, there, err := r.Read(above)
			if err != nil {
				return err
			}
			if there || added[above] {
				return clash(c.Ref, above)
			}
		}
	}
	return nil
}

func clash(ref, other string) error {
	return fmt.Errorf("the references %q and %q cannot both exist, because one is a directory of the other: %w", ref, other, domarkx.ErrExists)
}

// manyNew reports whether the changes only create references, and many of them. Then git update-ref does not create reflogs,
// which would double the time of a large import. The first later change of each reference creates its reflog, which then
// also has the first value.
func manyNew(changes []Change) bool {
	return len(changes) > manyRefs && !slices.ContainsFunc(changes, func(c Change) bool { return c.Old != "" })
}

// oneSync reports whether one sync of the whole file system (syncfs(2), Linux only) makes the changes durable. Otherwise git
// syncs each reference.
func oneSync(changes []Change) bool { return runtime.GOOS == "linux" && len(changes) > manyRefs }

func checkChanges(changes []Change) error {
	seen := make(map[string]bool, len(changes))
	for _, c := range changes {
		if err := c.check(); err != nil {
			return err
		}
		if seen[c.Ref] {
			return fmt.Errorf("the reference %q is listed twice: %w", c.Ref, domarkx.ErrInvalid)
		}
		seen[c.Ref] = true
	}
	return nil
}

func (c Change) check() error {
	if err := checkName(c.Ref); err != nil {
		return err
	}
	if !isOurs(c.Ref) {
		return fmt.Errorf("the reference %q is not below refs/domarkx/, refs/domarkx-remotes/, refs/domarkx-incoming/ or refs/domarkx-trash/: %w", c.Ref, domarkx.ErrInvalid)
	}
	if c.Old != "" && !oid.IsHex(c.Old) || c.New != "" && !oid.IsHex(c.New) || c.Old == "" && c.New == "" {
		return fmt.Errorf("moving the reference %q from %q to %q: %w", c.Ref, c.Old, c.New, domarkx.ErrInvalid)
	}
	return nil
}

// ours lists the prefixes of the references that this program may change.
var ours = [...]string{"refs/domarkx/", "refs/domarkx-remotes/", "refs/domarkx-incoming/", "refs/domarkx-trash/"}

// isOurs reports whether this program may change a reference.
func isOurs(name string) bool {
	return slices.ContainsFunc(ours[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// oneLine replaces control characters in a reason by spaces and shortens it, for one line of a reflog.
func oneLine(reason string) string {
	reason = strings.Join(strings.FieldsFunc(reason, func(c rune) bool { return c < ' ' || c == 0x7f }), " ")
	const most = 1000
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "")
	}
	return reason
}
