package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/version"
)

// DocumentChecks are the checks of a snapshot that need its Markdown form, which this package does not know.
type DocumentChecks interface {
	// Message compares a message that is stored only as JSON with the recorded digest of its rendering.
	Message(e domarkx.Entry, m domarkx.Message) error
	// Snapshot compares a snapshot's commit with the document. base is a snapshot that was
	// checked and that begins with the same messages, at least same of them, or "" if there is none.
	Snapshot(ctx context.Context, id, base string, same int) error
}

// VerifyCommits checks commits from a remote, parents before their children, and the refs that reach them. It returns
// an error for each bad ref, by its name.
func (r Reader) VerifyCommits(ctx context.Context, ids []string, refs []refdb.Ref, checks DocumentChecks) (map[string]error, error) {
	v := verifier{c: NewChecker(r), checks: checks, found: make(map[string]error, len(ids))}
	v.c.message = checks.Message
	v.c.extents = version.NewChecker(r.Reader, v.c.checkNewContent)
	for _, id := range ids {
		if v.found[id] = v.commit(ctx, id); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	bad := map[string]error{}
	for _, ref := range refs {
		if err := v.ref(ctx, ref); err != nil {
			bad[ref.Name] = err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return bad, nil
}

// A verifier checks commits from a remote.
type verifier struct {
	c      Checker
	checks DocumentChecks
	found  map[string]error // checked commits; nil for those without an error
}

// ref checks a ref, after its commits were checked.
func (v *verifier) ref(ctx context.Context, ref refdb.Ref) error {
	found, isNew := v.found[ref.ID]
	if found != nil {
		return found
	}
	if ref.Name == refname.Workspaces.Ref(refname.Workspaces.Name(ref.Name)) {
		_, _, _, err := v.c.version(ref.ID)
		return err
	}
	if _, _, err := v.c.snapshot(ref.ID); err != nil || !isNew {
		return err
	}
	return v.thread(ctx, ref.ID)
}

// commit checks a commit, after its new parents were checked.
func (v *verifier) commit(ctx context.Context, id string) error {
	oid, err := odb.ParseID(id)
	if err != nil {
		return err
	}
	kind, size, err := v.c.db.Size(oid)
	if err != nil {
		return err
	}
	if kind != odb.Commit || size > chunked.Threshold {
		return fmt.Errorf("commit %s: %w: a %s of %d bytes", id, domarkx.ErrCorrupt, kind, size)
	}
	c, err := v.c.objects.Commit(oid)
	if err != nil {
		return err
	}
	for _, p := range c.Parents {
		if err := v.found[p.String()]; err != nil {
			return err
		}
	}
	_, info, err := v.c.snapshot(id)
	switch {
	case errors.Is(err, codec.ErrNoSnapshot):
		return v.version(ctx, id)
	case err != nil:
		return err
	}
	if err := v.snapshot(ctx, c, info); err != nil {
		return fmt.Errorf("snapshot %.12s: %w", id, err)
	}
	return nil
}

// snapshot checks a snapshot. Its base is the first of its parents, unless a shallow clone does not have all of them.
func (v *verifier) snapshot(ctx context.Context, c *codec.Commit, info domarkx.Info) error {
	number, base, first := 1, snapshotBase{}, ""
	linked, cut := false, false
	for _, p := range c.Parents {
		before, err := v.c.Info(ctx, p.String())
		switch {
		case errors.Is(err, codec.ErrNoSnapshot):
			linked = true
			_, _, _, err = v.c.version(p.String())
		case err == nil && linked:
			return fmt.Errorf("%w: a workspace version is a parent before a snapshot", domarkx.ErrCorrupt)
		case err == nil && first == "":
			base.messages, first = before.Messages, p.String()
			base.root, _, err = v.c.root(first)
		}
		if errors.Is(err, domarkx.ErrNotFound) {
			if shallow, e := v.c.isShallow(info.ID); e == nil && shallow {
				cut = true
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("parent %.12s: %w", p, err)
		}
		number = max(number, before.Number+1)
	}
	if cut {
		base, first = snapshotBase{}, ""
	}
	if err := checkNumber(number, info.Number, cut); err != nil {
		return err
	}
	same, err := v.c.check(ctx, base, c, info)
	if err != nil {
		return err
	}
	return v.checks.Snapshot(ctx, info.ID, first, same)
}

// checkNumber compares the number of a commit with the one that follows from its parents.
func checkNumber(want, got int, cut bool) error {
	if got == want || cut {
		return nil
	}
	return fmt.Errorf("%w: its number is %d, expected %d", domarkx.ErrCorrupt, got, want)
}

// version checks a workspace version.
func (v *verifier) version(ctx context.Context, id string) error {
	now, err := v.c.VersionOrStub(ctx, id)
	if err != nil {
		return err
	}
	if err := v.versionAfter(ctx, now); err != nil {
		return fmt.Errorf("workspace version %.12s: %w", id, err)
	}
	return nil
}

// versionAfter checks the files of a version that its first parent does not have.
func (v *verifier) versionAfter(ctx context.Context, now domarkx.Version) error {
	line := v.c.versions()
	a, err := line.read(now.ID)
	if err != nil {
		return err
	}
	parents, err := line.before(a, -1)
	if err != nil {
		return err
	}
	number := 1
	for _, p := range parents {
		number = max(number, p.number+1)
	}
	if err := checkNumber(number, now.Number, len(parents) < len(a.parents)); err != nil {
		return err
	}
	base := map[string]string{}
	if len(parents) > 0 {
		old, err := v.c.VersionOrStub(ctx, parents[0].id)
		if err != nil {
			return err
		}
		for _, r := range old.Resources {
			base[r.ID] = r.Version
		}
	}
	return v.c.resourcesAfter(ctx, base, now)
}

// checkNewContent checks the content of a file in a version. It compares content in chunks with its digest.
func (c *Checker) checkNewContent(f *domarkx.File) error {
	object, chunks, err := version.ParseContentID(f.ID)
	if err != nil {
		return err
	}
	if !chunks.IsZero() {
		return c.checkContent(f.ID)
	}
	_, size, err := c.db.Size(object)
	if err != nil || size > chunked.MaxPointer {
		return err // git fetch has verified the blob with its id
	}
	data, err := c.objects.Blob(object)
	if err == nil && chunked.IsPointer(c.db.Hash(), data) {
		err = fmt.Errorf("blob %s: %w: it is a pointer without its content", object, domarkx.ErrCorrupt)
	}
	return err
}

// thread checks the order of the messages of a tip, and the links that the session did not have before the fetch.
func (v *verifier) thread(ctx context.Context, id string) error {
	v.c.links = map[string]bool{}
	if err := v.c.order(ctx, id); err != nil {
		return err
	}
	if len(v.c.links) == 0 {
		return nil
	}
	base, err := v.knownBefore(ctx, id)
	if err != nil {
		return err
	}
	if base != "" {
		state, err := v.c.LoadPacked(ctx, base)
		if err != nil {
			return err
		}
		for k := range state.Live.Len() {
			delete(v.c.links, state.Live.At(k).Link)
		}
	}
	links, err := v.c.unlinked(ctx, id)
	if err == nil && len(links) > 0 {
		err = fmt.Errorf("snapshot %.12s: %w: a message is linked to workspace version %.12s, which is not a parent of the session's snapshots", id, domarkx.ErrCorrupt, links[0])
	}
	return err
}

// knownBefore returns the newest snapshot, on the path of first parents, that the repository had before, or "" if there
// is none.
func (v *verifier) knownBefore(ctx context.Context, id string) (string, error) {
	for info, err := range v.c.History(ctx, id) {
		if err != nil {
			return "", err
		}
		if _, isNew := v.found[info.ID]; !isNew {
			return info.ID, nil
		}
	}
	return "", nil
}
