package redact

import (
	"bytes"
	"context"
	"io"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
)

// redactedRoot returns the key ([domarkx.Replacement.Key]) of the first snapshot in the history of a redacted
// session, or "" if the session was not redacted.
func (m *Redactor) redactedRoot(ctx context.Context, tip string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	redacted, root := false, ""
	for info, err := range m.store.Ancestors(ctx, tip) {
		if err != nil {
			return "", err
		}
		if known, ok := m.roots[info.ID]; ok && (known != "" || !redacted) { // older snapshots were looked up before
			redacted, root = known != "", known
			break
		}
		redacted, root = redacted || info.IsRedacted(), info.Key(info.ID)
	}
	if !redacted {
		root = ""
	}
	m.roots[tip] = root
	return root, nil
}

// knowsRedacted reports whether the history of a snapshot is to be searched for redacted commits. After a plain git fetch nothing
// has recorded yet that the repository has some. The tip then says so, which costs less than its history.
func (m *Redactor) knowsRedacted(ctx context.Context, tip string) (bool, error) {
	if tip == "" || m.store.HasReplacements() {
		return tip != "", nil
	}
	info, err := m.store.Info(ctx, tip)
	if err != nil || !info.IsRedacted() {
		return false, err
	}
	return true, m.store.NoteRedacted()
}

// A Document redacts additions to a session: documents, the files that they name, and messages. A
// secret that the session already has keeps its number. New secrets get the next numbers, in the
// order in which they are added.
type Document struct {
	redactor  *Redactor
	tip, root string // the newest snapshot of the session, and the key ([domarkx.Replacement.Key]) of its first one; "" for a new session
	table     *placeholder.Table
	isRead    bool // whether the table has the numbers that the session uses
}

// Document returns a Document for additions to the session whose newest snapshot is tip; "" stands
// for a new session. If the session was not redacted, it returns nil unless always is set.
func (m *Redactor) Document(ctx context.Context, tip string, always bool) (transaction.Redaction, error) {
	root := ""
	known, err := m.knowsRedacted(ctx, tip)
	if err == nil && known {
		root, err = m.redactedRoot(ctx, tip)
	}
	if err != nil || root == "" && !always {
		return nil, err
	}
	if root == "" && tip != "" {
		if root, err = rootOf(m.store.Ancestors(ctx, tip)); err != nil {
			return nil, err
		}
	}
	t, err := m.newTable(ctx)
	if err != nil {
		return nil, err
	}
	return &Document{redactor: m, tip: tip, root: root, table: t, isRead: tip == ""}, nil
}

// read adds the numbers that the session uses to the table.
func (d *Document) read(ctx context.Context) error {
	if d.isRead {
		return nil
	}
	known, err := d.redactor.recall(ctx, d.root, d.table)
	if err != nil {
		return err
	}
	for _, s := range known {
		d.table.Reserve(s.Number)
	}
	_, err = d.redactor.collector(d.table, true).messages(ctx, d.tip)
	d.isRead = err == nil
	return err
}

// rootOf returns the key ([domarkx.Replacement.Key]) of the first snapshot in a history.
func rootOf(history iter.Seq2[domarkx.Info, error]) (id string, err error) {
	for info, err := range history {
		if err != nil {
			return "", err
		}
		id = info.Key(info.ID)
	}
	return id, nil
}

// Learn compares a document with stored, the redacted form of its beginning, and adopts the numbers
// of the secrets that stored replaces. It stops where the two differ in anything else.
func (d *Document) Learn(stored, document []byte) { d.table.Learn(stored, document) }

// partSize is the maximum number of bytes of a document that are redacted at once.
const partSize = 64 << 20

// Copy writes a document of the given size in bytes to w, without its secrets.
func (d *Document) Copy(ctx context.Context, w io.Writer, document io.ReaderAt, size int64) error {
	err := d.read(ctx)
	if err != nil {
		return err
	}
	err = partsOf(io.NewSectionReader(document, 0, size), partSize, func(part []byte) error { d.table.Note(part, true); return nil })
	if err != nil {
		return err
	}
	return partsOf(io.NewSectionReader(document, 0, size), partSize, func(part []byte) error {
		text, _ := d.table.Redact(part, true)
		_, err := w.Write(text)
		return err
	})
}

// partsOf calls visit for consecutive parts of content, of at most size bytes. Each ends at a line end if possible.
func partsOf(content *io.SectionReader, size int, visit func(part []byte) error) error {
	buffer := make([]byte, 0, min(content.Size()+1, int64(size)))
	for {
		n, err := io.ReadFull(content, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return err
		}
		data := buffer
		if i := bytes.LastIndexByte(data, '\n'); !end && i >= 0 {
			data = data[:i+1]
		}
		if err := visit(data); err != nil || end {
			return err
		}
		buffer = buffer[:copy(buffer, buffer[len(data):])]
	}
}

// Bytes returns a text, JSON or the content of a file without its secrets. It returns binary content unchanged. As long as no
// text has a secret, its cost does not depend on the length of the session.
func (d *Document) Bytes(ctx context.Context, content []byte) ([]byte, error) {
	if !secrets.IsText(content) || !d.table.HasSecrets(content) {
		return content, nil
	}
	if err := d.read(ctx); err != nil {
		return nil, err
	}
	d.table.Note(content, true)
	text, _ := d.table.Redact(content, true)
	return text, nil
}

// Secrets returns the number of different secrets that were replaced.
func (d *Document) Secrets() int { return len(d.table.Secrets()) }

// Remember stores the numbers of the secrets for later additions to the session. The history is that of its newest snapshot.
func (d *Document) Remember(ctx context.Context, history iter.Seq2[domarkx.Info, error]) (err error) {
	if d.root == "" {
		if d.root, err = rootOf(history); err != nil {
			return err
		}
	}
	return d.redactor.remember(ctx, d.root, d.table)
}

// forgetImports removes the state for incremental imports of redacted sessions' documents, because
// it may contain parts of them. done maps snapshots to their redacted forms.
func (m *Manager) forgetImports(h *history, done map[string]string) error {
	record := sources.Open(m.env.StateDir)
	sessions := h.sessions()
	err := record.Forget(func(s *sources.Source) bool {
		if !sessions[s.Session] {
			return false
		}
		s.Growth, s.Before = nil, nil
		if now := done[s.Snapshot]; now != "" && now != s.Snapshot {
			before := *s // valid if the process is killed before the refs move
			s.Snapshot, s.Before = now, &before
		}
		return true
	})
	if err != nil {
		return err
	}
	return record.Save()
}
