package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/original"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Finding is a line of the report of Fsck or GC of package gitstore.
type Finding struct {
	Severity string // "error", "warning" or "info"
	What     string
	Where    string // a ref, a file, or NAME@ID and a path
	Fix      string // what to do about it: a command or an instruction
}

// FixRestore is the advice for findings about damaged objects.
const FixRestore = "get the session from a remote or a backup: git domarkx pull"

// A Checker compares the sessions and workspaces of a repository with SPEC.md. It checks each object once, even if many
// snapshots contain it. It is for one goroutine.
type Checker struct {
	Reader
	Findings []Finding
	commits  map[string]bool
	trees    memo             // directories of conversations that were checked
	blobs    memo             // blobs that were checked, each for a certain use
	links    map[string]bool  // links in the messages of the session
	extents  *version.Checker // for versions of resources and the contents of their files
	origins  *original.Checker

	// message compares a message that is stored only as JSON with the recorded digest of its rendering. It may be nil.
	message func(e domarkx.Entry, m domarkx.Message) error
}

// NewChecker returns a checker that has checked nothing yet.
func NewChecker(r Reader) Checker {
	c := Checker{Reader: r, commits: map[string]bool{}, trees: memo{}, blobs: memo{}, links: map[string]bool{}, origins: original.NewChecker(r.objects, r.writeWhole)}
	c.extents = version.NewChecker(r.Reader, func(f *domarkx.File) error { return c.checkContent(f.ID) })
	return c
}

// Report adds a finding.
func (c *Checker) Report(severity, what, where, fix string) {
	c.Findings = append(c.Findings, Finding{severity, what, where, fix})
}

// damaged adds a finding for err, unless err is nil. It returns an error only if ctx has ended.
func (c *Checker) damaged(ctx context.Context, err error, where string) error {
	if ctx.Err() != nil || err == nil {
		return ctx.Err()
	}
	fix := FixRestore
	if errors.Is(err, domarkx.ErrUnsupported) {
		fix = "use a newer git-domarkx"
	}
	c.Report("error", err.Error(), where, fix)
	return nil
}

// Session checks the snapshots in a session's history, from its tip on, and adds findings. It returns an error only if
// it cannot check.
func (c *Checker) Session(ctx context.Context, name, tip string) error {
	c.links = map[string]bool{}
	err := c.history(ctx, tip, func(id string) (ancestor, []ancestor, error) {
		commit, info, err := c.snapshot(id)
		if err != nil {
			return ancestor{}, nil, c.damaged(ctx, err, name+"@"+id)
		}
		a := ancestor{id: id, number: info.Number, parents: idStrings(commit.Parents)}
		_, err = c.check(ctx, snapshotBase{}, commit, info)
		if err := c.damaged(ctx, err, name+"@"+id); err != nil {
			return a, nil, err
		}
		if id == tip {
			if err := c.damaged(ctx, c.order(ctx, id), name+"@"+id); err != nil {
				return a, nil, err
			}
		}
		for _, p := range a.parents {
			if _, _, err := c.snapshot(p); errors.Is(err, codec.ErrNoSnapshot) {
				if err := c.Workspace(ctx, name, p); err != nil {
					return a, nil, err
				}
			}
		}
		before, err := c.snapshots().before(a, -1)
		return a, before, err
	}, name)
	if err != nil {
		return err
	}
	return c.checkLinks(ctx, name, tip)
}

// history checks each commit that tip reaches once. It adds findings for damage and for wrong numbers of commits. check
// checks one commit and returns it with its parents; it returns an error only if the parents cannot be read.
func (c *Checker) history(ctx context.Context, tip string, check func(id string) (ancestor, []ancestor, error), name string) error {
	queue := []string{tip}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if c.commits[id] {
			continue
		}
		c.commits[id] = true
		where := name + "@" + id
		a, parents, err := check(id)
		if err != nil {
			if err := c.damaged(ctx, fmt.Errorf("its history is incomplete: %w", err), where); err != nil {
				return err
			}
			continue
		}
		number := 1
		for _, p := range parents {
			number = max(number, p.number+1)
			queue = append(queue, p.id)
		}
		if len(parents) > 0 && number != a.number {
			c.Report("warning", fmt.Sprintf("its number is %d, expected %d", a.number, number), where, "nothing: numbers are only shown")
		}
	}
	return nil
}

// order checks that the messages of a thread are in the order that merging defines.
func (c *Checker) order(ctx context.Context, id string) error {
	state, err := c.Load(ctx, id)
	if err != nil {
		return nil // the check of the conversation has reported it
	}
	for _, e := range state.Thread.Live {
		c.noteLink(e)
	}
	again := domarkx.Merge(&state.Thread, &state.Thread)
	same := slices.EqualFunc(state.Thread.Live, again.Live, func(a, b domarkx.Entry) bool {
		return a.ID == b.ID && a.Rev == b.Rev && a.After == b.After && slices.Equal(a.Past, b.Past)
	}) && slices.EqualFunc(state.Thread.Dead, again.Dead, func(a, b domarkx.Tombstone) bool { return a.ID == b.ID && a.After == b.After })
	if !same {
		return fmt.Errorf("conversation: %w: its messages are not in the order that follows from their ids", domarkx.ErrCorrupt)
	}
	return nil
}

// A memo contains the results of checks. Its memory is limited: it forgets results, whose checks are then repeated.
type memo map[memoKey]error

// A memoKey identifies a check whose result a memo contains.
type memoKey [16]byte

// maxMemo is the maximum number of results in a memo, which need about 100 MB.
const maxMemo = 1 << 20

// blobKey returns the key for the check of a blob for a certain use.
func blobKey(as string, b domarkx.Blob) memoKey {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", as, b.ID, b.Chunks))
	return memoKey(sum[:16])
}

// once runs a check and stores its result, or returns the stored result.
func (m memo) once(key memoKey, check func() error) error {
	err, done := m[key]
	if !done {
		err = check()
		m.note(key, err)
	}
	return err
}

func (m memo) note(key memoKey, err error) {
	if len(m) >= maxMemo {
		clear(m)
	}
	m[key] = err
}
