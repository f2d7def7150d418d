package refdb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Change moves one reference from one object to another.
type Change struct {
	Ref string `json:"ref"`
	Old string `json:"old"` // "" if the reference must not exist
	New string `json:"new"` // "" to remove the reference and its reflog
}

// manyRefs is the number of references from which on one sync of the whole file system
// replaces a sync of each reference.
const manyRefs = 8

// Update makes all of the changes, or none if a reference does not have its old value. The
// lock must be held ([Refs.Lock]), and the new objects must be durable. When Update returns
// nil, the changes survive a crash of the machine. If the process is killed meanwhile, the next
// holder of the lock finishes the changes, or undoes them if that is impossible.
//
// reason is written to the reflogs, with the current time even if GIT_COMMITTER_DATE is set.
//
// Errors: [domarkx.ErrConflict] if a reference has another value, [domarkx.ErrExists] if one
// reference would be a directory of another, [domarkx.ErrInvalid] for names outside of
// this program's directories, [domarkx.ErrReadOnly], or an error of git, for instance because a
// hook refused the change.
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
		if err = r.update(ctx, oneLine(reason), changes); !sawStale(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// staleAttempts bounds how often a change is retried that git refused because of a value that
// no reference has.
const staleAttempts = 5

// sawStale reports whether git refused a change because it saw an outdated value. The old values
// were compared before and after the attempt; so a concurrent git pack-refs removed the loose
// file after git had read packed-refs.
func sawStale(err error) bool {
	var refused *gitcmd.Error
	return errors.As(err, &refused) && !errors.Is(err, domarkx.ErrConflict) && strings.Contains(refused.Stderr, " but expected ")
}

// update makes the changes once.
func (r *Refs) update(ctx context.Context, reason string, changes []Change) error {
	if err := r.unlockStale(ctx, changes); err != nil {
		return err
	}
	// A power failure may leave only some of several changes, and a removal may leave the lock of
	// packed-refs, which all references share. Then the journal must be durable.
	durable := len(changes) > 1 || slices.ContainsFunc(changes, func(c Change) bool { return c.New == "" })
	e, err := r.begin(record{Reason: reason, Changes: changes}, durable)
	if err != nil {
		return err
	}
	if err := r.apply(ctx, e, changes); err != nil {
		return r.afterFailure(ctx, e, err)
	}
	if err := r.makeDurable(changes); err != nil {
		e.leave()
		return fmt.Errorf("syncing references: %w", err)
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("changing references: %w", err)
	}
	if durable {
		// Otherwise the file could reappear after a crash, beside later changes.
		return atomicfile.SyncDir(r.journalDir())
	}
	return nil
}

// applyOnce runs git update-ref.
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
	if oneSync(changes) {
		sync = "core.fsync=objects,-reference"
	}
	args := []string{
		"-c", sync,
		"-c", fmt.Sprintf("core.filesRefLockTimeout=%d", r.patience.Milliseconds()), "-c", "core.packedRefsTimeout=5000", // wait for a running git
		"update-ref", "--no-deref",
	}
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

// afterFailure returns why git did not make the changes, after it has finished or undone them.
// The journal remains only if that is not possible now.
func (r *Refs) afterFailure(ctx context.Context, e *entry, failed error) error {
	ctx = context.WithoutCancel(ctx)
	done, err := r.settle(ctx, e)
	if err != nil {
		e.leave()
		return fmt.Errorf("changing references: %w; mending that: %w", failed, err)
	}
	if err := e.end(); err != nil {
		return fmt.Errorf("changing references: %w", err)
	}
	if done {
		return nil // git was stopped after it had begun, and it is finished now
	}
	return r.explain(e.Changes, failed)
}

// explain finds the cause of git's refusal, if it is one that callers distinguish.
func (r *Refs) explain(changes []Change, failed error) error {
	if err := r.compare(changes); err != nil {
		return err
	}
	if err := r.checkDirectories(changes); err != nil {
		return err
	}
	if isFull(r.common) {
		failed = fmt.Errorf("%w: %w", failed, errFull) // git does not report it
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
			return fmt.Errorf("the reference %q is at %s, not at %s: %w", c.Ref, orNothing(id), orNothing(c.Old), domarkx.ErrConflict)
		}
	}
	return nil
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}

// checkDirectories returns an error for a reference whose name is a directory of another one's.
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
		for i := len("refs/"); i < len(c.Ref); i++ {
			if c.Ref[i] != '/' {
				continue
			}
			above := c.Ref[:i]
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
	return fmt.Errorf("the references %q and %q cannot both be, as one is a directory of the other: %w", ref, other, domarkx.ErrExists)
}

// manyNew reports whether the changes create many references. Git then creates their reflogs
// with their first move, which also records the value before; creating them now would double
// the time of a large import.
func manyNew(changes []Change) bool {
	return len(changes) > manyRefs && !slices.ContainsFunc(changes, func(c Change) bool { return c.Old != "" })
}

// oneSync reports whether one sync of the whole file system, which only Linux has, makes the changes durable; otherwise
// git syncs each reference.
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
		return fmt.Errorf("the reference %q is not one of refs/domarkx…: %w", c.Ref, domarkx.ErrInvalid)
	}
	if c.Old != "" && !isID(c.Old) || c.New != "" && !isID(c.New) || c.Old == "" && c.New == "" {
		return fmt.Errorf("moving the reference %q from %q to %q: %w", c.Ref, c.Old, c.New, domarkx.ErrInvalid)
	}
	return nil
}

// ours are the prefixes of the references that this program may change.
var ours = [...]string{"refs/domarkx/", "refs/domarkx-remotes/", "refs/domarkx-incoming/", "refs/domarkx-trash/"}

// isOurs reports whether a reference is one that this program may change.
func isOurs(name string) bool {
	return slices.ContainsFunc(ours[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// oneLine makes a reason fit into one line of a reflog.
func oneLine(reason string) string {
	reason = strings.Join(strings.FieldsFunc(reason, func(c rune) bool { return c < ' ' || c == 0x7f }), " ")
	const most = 1000
	if len(reason) > most {
		reason = strings.ToValidUTF8(reason[:most], "")
	}
	return reason
}
