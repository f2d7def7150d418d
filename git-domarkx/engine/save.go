package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// A SaveRequest is a document to save under a session's name.
type SaveRequest struct {
	Name      string
	Base      string // the snapshot that the document was made from; "" for a new session
	Data      []byte // Markdown
	Operation string // the command or the kind of save
}

// Saved is the result of a save.
type Saved struct {
	domarkx.Info
	Changed bool // whether a snapshot was created
	Merged  bool // whether the session had moved and now contains both changes

	// Document is the snapshot with exactly the saved text. It is Info.ID unless Merged.
	Document string

	state  *domarkx.State // of Document, if it was created and is small; else nil
	grows  bool           // whether later messages of the document can be appended
	before domarkx.Info   // the session's newest snapshot before the save
}

// Save creates a snapshot from a saved document. If the session moved since the base, Save merges
// both changes. If it was removed, Save continues from the base. If the document cannot be
// parsed, Save returns a *domarkx.SyntaxError and changes nothing.
func (m *SessionManager) Save(ctx context.Context, r SaveRequest) (Saved, error) {
	var err error
	if r.Base, err = m.pastAttached(ctx, r.Name, r.Base); err != nil {
		return Saved{}, err
	}
	var base *view
	if r.Base != "" {
		if base, err = loadView(ctx, m.store, r.Base); err != nil {
			return Saved{}, err
		}
	}
	same, err := base.reads(ctx, r.Data)
	if err != nil {
		return Saved{}, err
	}
	if same {
		if tip, err := m.store.Tip(ctx, r.Name); !errors.Is(err, domarkx.ErrNotFound) {
			return Saved{Info: tip, Document: r.Base}, err
		}
	}
	doc, err := m.parse(ctx, r, base)
	if err != nil {
		return Saved{}, err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return Saved{}, err
	}
	var saved Saved
	err = m.Update(ctx, r.Operation+" "+r.Name, func(tx *gitstore.Tx) error {
		e := m.edition(base, doc, committer)
		saved, err = m.commitEdition(ctx, tx, e, change{name: r.Name, base: r.Base, operation: r.Operation, author: author, committer: committer})
		if err == nil && !saved.Merged {
			err = m.trustSaved(ctx, saved, r.Base, doc)
		}
		return err
	})
	if err != nil || !saved.Merged {
		return saved, err
	}
	return saved, unextended(saved.Name, m.trustSaved(ctx, saved, r.Base, doc))
}

// parse parses a saved document. Included files are read from the base.
func (m *SessionManager) parse(ctx context.Context, r SaveRequest, base *view) (*domarkx.Document, error) {
	src := format.Source{Path: r.Name + ".md", Data: r.Data}
	if base != nil {
		files, err := base.includes(ctx)
		if err != nil {
			return nil, err
		}
		src.Include = storedInclude(files)
	}
	return markdown.Decode(src)
}

func (m *SessionManager) edition(base *view, doc *domarkx.Document, committer domarkx.Signature) *edition {
	return &edition{blobs: m.store, base: base, doc: doc, date: committer.When.Unix(),
		newID: func(clock uint32) domarkx.ID { return domarkx.NewID(clock, committer.When) }}
}

// attempts is the maximum number of attempts of an update. Updates of this program exclude each
// other, so only plain Git commands cause conflicts.
const attempts = 100

// Update calls fn in an update of the store and retries on conflicts with other processes.
func (m *SessionManager) Update(ctx context.Context, reason string, fn func(*gitstore.Tx) error) error {
	var err error
	for range attempts {
		err = m.store.Update(ctx, reason, fn)
		if !errors.Is(err, domarkx.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// A change describes the commit of a new snapshot.
type change struct {
	name      string
	base      string // the snapshot that it was made from; "" for none
	operation string
	author    domarkx.Signature
	committer domarkx.Signature
}

// commitOf returns a commit of a state. It sets no parents.
func (m *SessionManager) commitOf(ctx context.Context, tx blobs, state *domarkx.State, c change, subject string) (domarkx.Commit, error) {
	v, err := newView(ctx, tx, state)
	if err != nil {
		return domarkx.Commit{}, err
	}
	commit := domarkx.Commit{State: state, Operation: c.operation, Subject: subject, Bytes: v.size(), Author: c.author, Committer: c.committer}
	if len(state.Thread.Live) > 0 {
		first, err := v.message(ctx, 0)
		if err != nil {
			return domarkx.Commit{}, err
		}
		commit.Preview = preview(first)
	}
	return commit, nil
}

// subject returns the subject of an edition's commit.
func subject(c change, e *edition) string {
	n := e.len()
	was := 0
	if e.base != nil {
		was = e.base.live.Len()
	}
	switch {
	case e.base == nil:
		return fmt.Sprintf("%s %s: %s", c.operation, c.name, count(n))
	case n > was:
		return fmt.Sprintf("%s %s: %s more", c.operation, c.name, count(n-was))
	case n < was:
		return fmt.Sprintf("%s %s: %s fewer", c.operation, c.name, count(was-n))
	}
	return fmt.Sprintf("%s %s", c.operation, c.name)
}

func count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// firstLine returns the first non-blank line of a message.
func firstLine(m domarkx.Message) string {
	for _, b := range m.Content {
		for line := range strings.Lines(b.Text) {
			if line = strings.TrimSpace(line); line != "" {
				return line
			}
		}
	}
	return ""
}
