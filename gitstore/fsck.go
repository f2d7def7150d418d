package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Finding is one thing that [Store.Fsck] or [Store.GC] has to say.
type Finding struct {
	Severity string // "error", "warning" or "info"
	What     string
	Where    string // a ref, or NAME@OID with a path behind it
	Fix      string // a command, or what to do
}

// Fixes that several findings have.
const (
	fixRestore = "get the session from a remote or a backup: git domarkx pull"
	fixRename  = "git domarkx rename it"
)

// Fsck reads all that sessions and the trash are made of, with their whole
// histories, and reports what is not as SPEC.md says. What the canonical rendering
// of a message is it does not know; of author's bytes it verifies the digest.
// progress, which may be nil, is told how many refs were checked, of how many.
// The error is one that kept it from checking.
func (s *Store) Fsck(ctx context.Context, progress func(done, total int)) ([]Finding, error) {
	c := checker{reader: s.reader, commits: map[string]bool{}, trees: map[treeKey]bool{}, blobs: map[string]error{}}
	for _, prefix := range []string{sessions.prefix, sessions.trash, remotePrefix} {
		damaged, err := s.refs.Damaged(prefix)
		if err != nil {
			return nil, err
		}
		for _, err := range damaged {
			c.report("error", err.Error(), prefix, "git update-ref -d removes the ref; then "+fixRestore)
		}
	}
	live, err := s.refs.List(sessions.prefix)
	if err != nil {
		return nil, err
	}
	trash, err := s.refs.List(sessions.trash)
	if err != nil {
		return nil, err
	}
	names := newNameIndex(sessions)
	for i, ref := range slices.Concat(live, trash) {
		if progress != nil {
			progress(i, len(live)+len(trash))
		}
		name := sessions.name(ref.Name)
		if i < len(live) {
			err := CheckName(name)
			if err == nil {
				err = names.check(name)
			}
			if err != nil {
				c.report("warning", err.Error(), ref.Name, fixRename)
			}
			names.add(name)
		} else if name, _, err = sessions.parseTrash(ref.Name); err != nil {
			c.report("warning", err.Error(), ref.Name, "git update-ref -d "+ref.Name)
			name = ref.Name
		}
		if err := c.session(ctx, name, ref.ID); err != nil {
			return c.findings, err
		}
	}
	return c.findings, nil
}

// A checker reads each object once, however many snapshots have it.
type checker struct {
	reader
	findings []Finding
	commits  map[string]bool
	trees    map[treeKey]bool
	blobs    map[string]error // what is wrong with a blob and what it is used as
}

// A treeKey is a folder and how many messages there must be in it.
type treeKey struct {
	id              odb.ID
	level, messages int
}

func (c *checker) report(severity, what, where, fix string) {
	c.findings = append(c.findings, Finding{severity, what, where, fix})
}

// damaged reports an error, unless it is the caller's own.
func (c *checker) damaged(ctx context.Context, err error, where string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	fix := fixRestore
	if errors.Is(err, domarkx.ErrUnsupported) {
		fix = "use a newer git-domarkx"
	}
	c.report("error", err.Error(), where, fix)
	return nil
}

// session checks a tip and what it came from.
func (c *checker) session(ctx context.Context, name, tip string) error {
	queue := []string{tip}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if c.commits[id] {
			continue
		}
		c.commits[id] = true
		where := name + "@" + id
		commit, info, err := c.snapshot(id)
		if err != nil {
			if err := c.damaged(ctx, err, where); err != nil {
				return err
			}
			continue
		}
		if err := c.check(ctx, commit, info); err != nil {
			if err := c.damaged(ctx, err, where); err != nil {
				return err
			}
		}
		if id == tip {
			if err := c.order(ctx, id); err != nil {
				if err := c.damaged(ctx, err, where); err != nil {
					return err
				}
			}
		}
		parents, err := c.snapshots().before(ancestor{id: id, parents: commit.parents}, -1)
		if err != nil {
			if err := c.damaged(ctx, fmt.Errorf("its history is cut off: %w", err), where); err != nil {
				return err
			}
			continue
		}
		number := 1
		for _, p := range parents {
			number = max(number, p.number+1)
			queue = append(queue, p.id)
		}
		if len(parents) > 0 && number != info.Number {
			c.report("warning", fmt.Sprintf("its number is %d, expected %d", info.Number, number), where, "nothing: numbers are only shown")
		}
	}
	return nil
}

// order checks that the messages stand as merging orders them.
func (c *checker) order(ctx context.Context, id string) error {
	state, err := c.Load(ctx, id)
	if err != nil {
		return nil // reported already
	}
	again := domarkx.Merge(&state.Thread, &state.Thread)
	same := slices.EqualFunc(state.Thread.Live, again.Live, func(a, b domarkx.Entry) bool {
		return a.ID == b.ID && a.Rev == b.Rev && a.After == b.After && slices.Equal(a.Past, b.Past)
	}) && slices.EqualFunc(state.Thread.Dead, again.Dead, func(a, b domarkx.Tombstone) bool { return a.ID == b.ID && a.After == b.After })
	if !same {
		return fmt.Errorf("conversation: %w: its messages are not in the order that their ids give", domarkx.ErrCorrupt)
	}
	return nil
}
