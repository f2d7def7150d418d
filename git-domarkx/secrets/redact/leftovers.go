package redact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// kept reports whether a redaction skips a file or directory of the state directory, other than derived files: locks, files
// of live workspaces, and records without texts that other processes may write at any time.
func kept(name string) bool {
	switch name {
	case "drafts", "workspaces", "journal", "mounts", "observed", "replaced", "redacting.json", "leases.json",
		"renamed.json": // contains former names until the next push has removed them from remotes
		return true
	}
	return strings.HasPrefix(name, "lock") || strings.HasSuffix(name, "lock") || strings.HasSuffix(name, ".turn") || strings.HasPrefix(name, atomicfile.TempPrefix)
}

// maxLeftover is the maximum size in bytes of files in the state directory that are searched for
// secrets.
const maxLeftover = 256 << 20

// leftovers replaces the secrets of a table in the files of the state directory and in reflogs:
// texts that could not be saved, answers and calls of killed processes, logs and records. In texts
// of the history's sessions it also replaces secrets that the rules find. done maps commits to
// their redacted forms. If a running mount holds such a text, leftovers returns an error that
// matches [drafts.ErrInUse] and changes nothing.
func (m *Manager) leftovers(h *history, t *placeholder.Table, done map[string]string) error {
	sessions := h.sessions()
	err := drafts.Rewrite(filepath.Join(m.env.StateDir, "drafts"), func(d drafts.Draft) (drafts.Draft, bool) {
		data, changed := t.Literally(d.Data, false)
		if sessions[d.Name] {
			data, changed = t.Redact(d.Data, true)
		}
		problem, also := t.Literally([]byte(d.Problem), false)
		d.Data, d.Problem = data, string(problem)
		if now := done[d.Base]; now != "" && now != d.Base {
			d.Base, also = now, true
		}
		return d, changed || also
	})
	if errors.Is(err, drafts.ErrInUse) {
		return fmt.Errorf("%w and holds a secret; nothing was redacted: correct or discard that text, or unmount, which keeps it, and redact again", err)
	}
	if err != nil {
		return fmt.Errorf("redacting unsaved texts: %w; nothing was redacted", err)
	}
	// The reasons in reflogs can contain former names.
	err = m.store.RewriteReasons(func(reason string) (string, bool) {
		now, changed := t.Literally([]byte(reason), false)
		return string(now), changed
	})
	if err != nil {
		return fmt.Errorf("redacting reflogs: %w", err)
	}
	return filepath.WalkDir(m.env.StateDir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case path != m.env.StateDir && kept(d.Name()) && d.IsDir():
			return fs.SkipDir
		case !d.Type().IsRegular() || kept(d.Name()):
			return nil
		}
		if name, err := filepath.Rel(m.env.StateDir, path); err != nil || derived.Has(filepath.ToSlash(name)) {
			return err // removed later
		}
		if err := leftover(t, path, filepath.Base(filepath.Dir(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("redacting %s: %w", path, err)
		}
		return nil
	})
}

// leftover replaces the secrets of the table in a file of the state directory.
func leftover(t *placeholder.Table, path, dir string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxLeftover {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var now []byte
	var changed bool
	switch {
	case strings.HasSuffix(path, ".stream"):
		now, changed = stream(t, data)
	case strings.HasPrefix(dir, "edit-"):
		now, changed = t.Redact(data, true)
	case strings.HasSuffix(path, ".log"), filepath.Base(path) == "log": // a running process appends to it, so it cannot be replaced
		return mask(t, path, data)
	default:
		now, changed = t.Literally(data, true)
	}
	if !changed {
		return nil
	}
	return atomicfile.Replace(path, now)
}

// mask overwrites the known secrets in a file with asterisks. The size of the file remains the
// same.
func mask(t *placeholder.Table, path string, data []byte) error {
	places := t.Places(data)
	if len(places) == 0 {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	for _, p := range places {
		_, e := file.WriteAt(bytes.Repeat([]byte("*"), p[1]-p[0]), int64(p[0]))
		err = errors.Join(err, e)
	}
	return errors.Join(err, atomicfile.Sync(file), file.Close())
}

// stream redacts the journal of an answer: JSON lines after a header. The lines are pieces of the
// text. stream joins adjacent pieces, because a secret can be split between them. It omits
// incomplete lines, which no reader uses.
func stream(t *placeholder.Table, data []byte) ([]byte, bool) {
	type piece struct {
		Text    string `json:"text,omitempty"`
		Thought string `json:"thought,omitempty"`
	}
	header, rest, ok := bytes.Cut(data, []byte("\n"))
	if !ok {
		return nil, len(data) > 0
	}
	var joined []piece
	for line := range bytes.Lines(rest) {
		var p piece
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &p) != nil {
			break
		}
		if n := len(joined); n > 0 && (joined[n-1].Thought == "") == (p.Thought == "") {
			joined[n-1] = piece{joined[n-1].Text + p.Text, joined[n-1].Thought + p.Thought}
			continue
		}
		joined = append(joined, p)
	}
	changed := false
	var out bytes.Buffer
	out.Write(append(slices.Clip(header), '\n'))
	for _, p := range joined {
		text, a := t.Redact([]byte(p.Text), false)
		thought, b := t.Redact([]byte(p.Thought), false)
		changed = changed || a || b
		line, err := json.Marshal(piece{string(text), string(thought)})
		if err != nil {
			return data, false
		}
		out.Write(append(line, '\n'))
	}
	return out.Bytes(), changed
}

// forgetTexts removes the texts of replaced commits from derived files.
func (m *Manager) forgetTexts(ctx context.Context) error {
	if m.forget == nil {
		return derived.RemoveTexts(m.env.StateDir)
	}
	return errors.Join(derived.RemoveTexts(m.env.StateDir, derived.Search), m.forget(ctx))
}

// finish does everything that belongs to a redaction or an expiry besides moving the refs.
func (m *Manager) finish(ctx context.Context, h *history, w *rewriter, change *gitstore.Redaction) error {
	if w.table.IsEmpty() {
		change.Clear = func(context.Context) error { return nil } // no text is gone
		return m.forgetImports(h, w.done)
	}
	if err := m.leftovers(h, w.table, w.done); err != nil {
		return err
	}
	change.Clear = m.forgetTexts
	return errors.Join(m.remember(ctx, key(h.snapshots[0]), w.table), m.forgetImports(h, w.done))
}
