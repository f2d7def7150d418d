package turns

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/lock"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A TurnRequest names the session of a turn.
type TurnRequest struct {
	Name string
	New  bool // create the session with the first message if it does not exist
	// Approve is how the user agrees to work once on an untrusted session, and to calls.
	Approve trust.Consent
}

// A Turn is the exclusive right to continue a session with answers of a model and with calls: only one process at a time has
// it. Each method that stores something stores one snapshot, which is durable when the method returns. Other commands can
// change the session meanwhile. The workspace is opened on first use, and stays open and locked until the end of the turn.
type Turn struct {
	m       *Manager
	request TurnRequest
	gate    *trust.Gate
	unlock  func()
	bench   *openWorkspace // workspace, nil until needed
}

// BeginTurn begins a turn. It returns a [*lock.BusyError] if another process is in a turn of this
// session, and a [*trust.UntrustedError] if the session is not trusted and the user does not
// approve it. The error matches [domarkx.ErrNotFound] if the session does not exist. Calls without
// a result need no trust here: [Turn.Make] is for calls that [Turn.Approve] permits.
func (m *Manager) BeginTurn(ctx context.Context, r TurnRequest) (*Turn, error) {
	t := &Turn{m: m, request: r, gate: m.trust.Gate(r.Approve)}
	info, err := t.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if t.unlock, err = lock.Turn(ctx, m.env.StateDir, r.Name, "chat"); err != nil {
		return nil, err
	}
	if info.ID != "" {
		if info, err = t.Tip(ctx); err == nil {
			_, err = t.gate.Permit(ctx, trust.Session{Info: info, Settled: true})
		}
		if err != nil {
			t.unlock()
			return nil, err
		}
	}
	return t, nil
}

// Close ends the turn: it ends everything that runs for the workspace.
func (t *Turn) Close(ctx context.Context) error {
	defer t.unlock()
	if t.bench == nil {
		return nil
	}
	b := t.bench
	t.bench = nil
	return b.close(ctx)
}

// Tip returns the newest snapshot of the session. Before the first message of a new session, it has no id.
func (t *Turn) Tip(ctx context.Context) (domarkx.Info, error) {
	info, err := t.m.store.Tip(ctx, t.request.Name)
	if errors.Is(err, domarkx.ErrNotFound) && t.request.New {
		err = nil
	}
	info.Name = t.request.Name
	return info, err
}

// Header returns the header of the session.
func (t *Turn) Header(ctx context.Context) (domarkx.Header, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return domarkx.NewHeader(), err
	}
	return view.Header(ctx, t.m.store, tip.ID)
}

// open opens the workspace, unless it is open. It records the calls that a killed process left.
func (t *Turn) open(ctx context.Context) error {
	if t.bench != nil {
		return nil
	}
	tip, err := t.Tip(ctx)
	if err != nil {
		return err
	}
	b, err := t.m.open(ctx, t.gate, trust.Session{Info: tip, Settled: true})
	if err != nil {
		return err
	}
	if err := b.prepare(ctx, t.request.Name, false); err != nil {
		return errors.Join(err, b.close(ctx))
	}
	t.bench = b
	return nil
}

// Recover records calls of the session that were interrupted when their process was killed. They are not made again.
func (t *Turn) Recover(ctx context.Context) error {
	left, err := t.m.interruptedIn(t.request.Name)
	if err != nil || len(left) == 0 {
		return err
	}
	return t.open(ctx)
}

// link returns the version to link to an answer: that of the live workspace, after changes that
// were made by hand are committed.
func (t *Turn) link(ctx context.Context) (string, error) {
	if t.bench == nil {
		return t.m.replyLink(ctx, t.request.Name)
	}
	if err := t.bench.commitChanges(ctx); err != nil && ctx.Err() != nil {
		return "", err
	} // otherwise the next call reports what cannot be stored
	return t.bench.tip.ID, nil
}

// MessagesBackward returns the messages of a snapshot, the last one first. It reads them in parts. The error matches
// [domarkx.ErrCorrupt] if some are missing.
func (m *Manager) MessagesBackward(ctx context.Context, snapshot domarkx.Info) iter.Seq2[domarkx.Entry, error] {
	const most = 4096
	return func(yield func(domarkx.Entry, error) bool) {
		step := 16
		for end := snapshot.Messages; end > 0; step = min(4*step, most) {
			from := max(0, end-step)
			entries, err := m.store.EntriesBetween(ctx, snapshot.ID, from, end)
			if err == nil && len(entries) != end-from {
				err = fmt.Errorf("snapshot %s: %w: %d messages, expected %d", snapshot.ID, domarkx.ErrCorrupt, len(entries)+from, end)
			}
			if err != nil {
				yield(domarkx.Entry{}, err)
				return
			}
			for _, e := range slices.Backward(entries) {
				if !yield(e, nil) {
					return
				}
			}
			end = from
		}
	}
}

// chatOperation is the operation of snapshots that a chat creates.
const chatOperation = "chat"

// A File is a file to attach to a session.
type File = engine.File

// A Reply is a message to add to a session. Its ID is from [Turn.NewID]; adding a message with the id of an existing one is an
// error. It must use the paths that [Turn.FreePath] returned for its files.
type Reply = engine.Addition

// NewID returns an id for a message.
func (t *Turn) NewID(ctx context.Context) (domarkx.ID, error) {
	_, committer, err := t.m.env.Identity(ctx)
	if err != nil {
		return domarkx.ID{}, err
	}
	return domarkx.NewID(0, committer.When), nil
}

// FreePath returns the path under which the session can keep a file of this content: the wanted
// one, or a similar one if it keeps another file there or one of more has that path.
func (t *Turn) FreePath(ctx context.Context, wanted string, data []byte, more []File) (string, error) {
	if err := domarkx.CheckFilePath(wanted); err != nil {
		return "", err
	}
	kept, err := t.Files(ctx)
	if err != nil {
		return "", err
	}
	digests := map[string]string{}
	for _, f := range kept {
		digests[f.Path] = f.SHA256
	}
	for _, f := range more {
		digests[f.Path] = digestOf(f.Data)
	}
	digest := digestOf(data)
	ext := path.Ext(wanted)
	for name, n := wanted, 2; ; n++ {
		if there, taken := digests[name]; !taken || there == digest {
			return name, nil
		}
		name = strings.TrimSuffix(wanted, ext) + "-" + strconv.Itoa(n) + ext
	}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Add adds a message of the user to the session, which it creates if the request of the turn says
// so. It never extends trust to anything.
func (t *Turn) Add(ctx context.Context, r Reply) (domarkx.Info, error) {
	r.Link = ""
	return t.add(ctx, r)
}

// Answer adds an answer of a model, linked to the present version of the workspace. Its calls are
// pending. Adding it does not make the user trust anything in it.
func (t *Turn) Answer(ctx context.Context, r Reply) (domarkx.Info, error) {
	var err error
	if r.Link, err = t.link(ctx); err != nil {
		return domarkx.Info{}, err
	}
	return t.add(ctx, r)
}

func (t *Turn) add(ctx context.Context, r Reply) (domarkx.Info, error) {
	return t.m.add(ctx, engine.Change{Name: t.request.Name, Operation: chatOperation}, r, t.request.New, trust.AppendedTo)
}

// maxAttachmentRead limits an attachment that [Turn.Attachment] reads, in bytes.
const maxAttachmentRead = 256 << 20

// Attachment returns an attachment of the session by its SHA-256 in hexadecimal, and nil if the
// session does not have it or if it is larger than 256 MiB.
func (t *Turn) Attachment(ctx context.Context, sha256 string) ([]byte, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, err
	}
	return t.m.AttachmentOf(ctx, tip, sha256)
}

// AttachmentOf is like [Turn.Attachment], for a snapshot.
func (m *Manager) AttachmentOf(ctx context.Context, snapshot domarkx.Info, sha256 string) ([]byte, error) {
	c, err := m.store.Attachment(ctx, snapshot.ID, sha256)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Size() > maxAttachmentRead {
		return nil, nil
	}
	return io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
}

// Files returns the files that the session keeps by path.
func (t *Turn) Files(ctx context.Context) ([]domarkx.AttachedFile, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return nil, err
	}
	return t.m.store.Files(ctx, tip.ID)
}
