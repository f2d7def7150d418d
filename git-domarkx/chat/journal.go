package chat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/glob"
)

// syncEvery is the maximum time until a piece is synced to disk. A kill loses nothing; a power failure loses at most what
// arrived in this time.
const syncEvery = 500 * time.Millisecond

// maxJournal is the maximum size in bytes of a journal that is read again.
const maxJournal = 256 << 20

// A journal stores the text of an answer in a file while it arrives, as JSON lines: a header, then
// pieces of the text. It is removed when the session contains the answer.
type journal struct {
	path   string
	header journalHeader

	mu      sync.Mutex
	file    *os.File    // nil until the first piece
	pending *time.Timer // calls sync; nil if everything is synced
	err     error
}

// A journalHeader is the first line of a journal.
type journalHeader struct {
	Format   int    `json:"format"` // version of the format: 1
	Session  string `json:"session"`
	After    string `json:"after,omitempty"` // the id of the message that the answer follows
	Message  string `json:"message"`         // the id of the message that will contain the answer
	Model    string `json:"model"`
	Provider string `json:"provider"`
}

// A journalPiece is one of the other lines.
type journalPiece struct {
	Text    string `json:"text,omitempty"`
	Thought string `json:"thought,omitempty"`
}

func (c *Chat) journalPath(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(c.stateDir, "turns", fmt.Sprintf("%x.stream", sum[:16]))
}

func (t *turn) newJournal(ctx context.Context, id domarkx.ID) (*journal, error) {
	j := &journal{path: t.chat.journalPath(t.request.Session),
		header: journalHeader{Format: 1, Session: t.request.Session, Message: id.String(), Model: t.origin.Model, Provider: t.origin.Provider}}
	tip, err := t.Tip(ctx)
	if err != nil || tip.Messages == 0 {
		return j, err
	}
	last, err := t.chat.store.Entry(ctx, tip.ID, tip.Messages-1)
	j.header.After = last.ID.String()
	return j, err
}

// add appends a piece. [journal.close] returns its errors.
func (j *journal) add(p journalPiece) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil && j.err == nil {
		j.err = j.open()
	}
	if j.err == nil {
		j.err = j.line(p)
	}
	if j.err == nil && j.pending == nil {
		j.pending = time.AfterFunc(syncEvery, j.sync)
	}
}

// sync syncs the pieces that were added since the last time.
func (j *journal) sync() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pending != nil {
		j.err, j.pending = errors.Join(j.err, j.file.Sync()), nil
	}
}

func (j *journal) line(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = j.file.Write(append(data, '\n'))
	}
	return err
}

func (j *journal) open() error {
	err := atomicfile.MkdirAll(filepath.Dir(j.path), 0o700)
	if err == nil {
		j.file, err = os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if err == nil {
		err = j.line(j.header)
	}
	return err
}

// close closes the journal. It returns the first error of recording, if any.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pending != nil {
		j.pending.Stop()
		j.pending = nil
	}
	if j.file != nil {
		j.err = errors.Join(j.err, j.file.Close())
	}
	if j.err != nil {
		return fmt.Errorf("recording the answer while it arrives: %w", j.err)
	}
	return nil
}

// removeJournal removes a journal after its answer was stored.
func removeJournal(path string) error {
	err := atomicfile.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recoverStream stores the answers that killed processes had received in part: of this session, and
// of sessions that are gone and whose messages it has, because it was renamed.
func (t *turn) recoverStream(ctx context.Context) error {
	own := t.chat.journalPath(t.request.Session)
	paths, err := glob.Below(filepath.Dir(own), "*.stream")
	for _, path := range paths {
		err = errors.Join(err, t.recoverFrom(ctx, path, path == own))
	}
	return err
}

// recoverFrom stores the answer in a journal if it follows a message of this session. Otherwise it
// removes the journal if its place is that of this session: the journal is then of an earlier one
// of the same name.
func (t *turn) recoverFrom(ctx context.Context, path string, own bool) error {
	data, err := readJournal(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what a killed process received: %w", err)
	}
	header, parts := parseJournal(data)
	mine, err := t.isMine(ctx, header, own)
	if err != nil || !mine && !own {
		return err
	}
	if id, err := domarkx.ParseID(header.Message); mine && err == nil && len(parts) > 0 {
		if err := t.recoverAnswer(ctx, id, header, parts); err != nil {
			return err
		}
	} // otherwise the process was killed before the first piece
	return removeJournal(path)
}

// isMine reports whether the answer in a journal follows a message of this session. own means that
// the journal has the place of this session.
func (t *turn) isMine(ctx context.Context, header journalHeader, own bool) (bool, error) {
	if !own {
		if _, err := t.chat.store.Tip(ctx, header.Session); !errors.Is(err, domarkx.ErrNotFound) || header.After == "" {
			return false, nil // the next turn of that session takes care of it
		}
	} else if header.After == "" || header.Session != t.request.Session {
		return header.Session == t.request.Session, nil
	}
	after, err := domarkx.ParseID(header.After)
	if err != nil {
		return false, nil
	}
	return t.hasMessage(ctx, after)
}

func (t *turn) recoverAnswer(ctx context.Context, id domarkx.ID, header journalHeader, parts []provider.Part) error {
	stored, err := t.hasMessage(ctx, id)
	if err != nil || stored {
		return err
	}
	origin := t.origin
	t.origin = provider.Origin{Provider: header.Provider, Model: header.Model}
	err = t.keep(ctx, id, provider.Answer{Parts: parts}, errKilled)
	t.origin = origin
	if err != nil {
		return err
	}
	t.answers = 0
	t.result.Text = ""
	t.emit(provider.Notice("the last answer was cut when the program was killed; what had arrived is kept"))
	return nil
}

// errKilled is the reason why a recovered answer is incomplete.
var errKilled = errors.New("the program was killed")

func readJournal(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxJournal {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, domarkx.ErrCorrupt, info.Size())
	}
	return os.ReadFile(path)
}

// parseJournal reads a journal up to its last complete line.
func parseJournal(data []byte) (header journalHeader, parts []provider.Part) {
	first, pieces, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(first, &header) != nil || header.Format != 1 {
		return journalHeader{}, nil
	}
	c := provider.NewCollector(func(provider.Event) {})
	for line := range bytes.Lines(pieces) {
		var piece journalPiece
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &piece) != nil {
			break // damaged by a power failure
		}
		if errors.Join(c.Text(piece.Text), c.Thought(piece.Thought)) != nil {
			break // no wire receives so much
		}
	}
	c.Break()
	return header, c.Parts
}

// hasMessage reports whether one of the last 100 messages of the session has the id.
func (t *turn) hasMessage(ctx context.Context, id domarkx.ID) (bool, error) {
	const most = 100
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return false, err
	}
	n := 0
	for e, err := range t.chat.turns.MessagesBackward(ctx, tip) {
		if err != nil || e.ID == id {
			return err == nil, err
		}
		if n++; n == most {
			break
		}
	}
	return false, nil
}
