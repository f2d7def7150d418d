package redact

import (
	"bytes"
	"context"
	"io"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// Filter returns what replaces the secrets in additions to a session, if it was redacted; else nil.
func (m *Manager) Filter(ctx context.Context, tip string) (func(ctx context.Context, text []byte) ([]byte, bool, error), error) {
	if !m.store.HasReplacements() {
		return nil, nil
	}
	root, err := m.redactedRoot(ctx, tip)
	if root == "" || err != nil {
		return nil, err
	}
	return func(ctx context.Context, text []byte) ([]byte, bool, error) {
		now, err := m.filter(ctx, tip, root, text)
		return now, err == nil && !bytes.Equal(now, text), err
	}, nil
}

// redactedRoot returns the first snapshot of the history of a redacted session; "" if it was not redacted.
func (m *Manager) redactedRoot(ctx context.Context, tip string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.roots == nil {
		m.roots = map[string]string{}
	}
	redacted, root := false, ""
	for info, err := range m.store.Ancestors(ctx, tip) {
		if err != nil {
			return "", err
		}
		if known, ok := m.roots[info.ID]; ok && (known != "" || !redacted) { // only the latest snapshots are new
			redacted, root = known != "", known
			break
		}
		redacted, root = redacted || info.Replaces != "", keyOf(info.ID, info.Replaces)
	}
	if !redacted {
		root = ""
	}
	m.roots[tip] = root
	return root, nil
}

// filter returns a text or JSON without secrets.
func (m *Manager) filter(ctx context.Context, tip, root string, text []byte) ([]byte, error) {
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	if len(newTable(m.scanner, m.allow).findings(text, true)) == 0 {
		return text, nil
	}
	d, err := m.document(ctx, tip, root)
	if err != nil {
		return nil, err
	}
	return d.Bytes(text), m.remember(ctx, root, d.table)
}

// A Document redacts additions to a session: a document, the files that it names, a message. Equal secrets
// get the numbers that they have in the session, others the next ones, in the order of the document.
type Document struct {
	manager *Manager
	table   *table
}

// Document returns what redacts a document of a session with that newest snapshot, "" for a new session. Unless
// always, it is nil for a session that was not redacted.
func (m *Manager) Document(ctx context.Context, tip string, always bool) (*Document, error) {
	root := ""
	var err error
	if tip != "" {
		root, err = m.redactedRoot(ctx, tip)
	}
	if err != nil || root == "" && !always {
		return nil, err
	}
	if root == "" {
		if root, err = m.root(ctx, tip); err != nil {
			return nil, err
		}
	}
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	return m.document(ctx, tip, root)
}

func (m *Manager) document(ctx context.Context, tip, root string) (*Document, error) {
	t := newTable(m.scanner, m.allow)
	if tip == "" {
		return &Document{m, t}, nil
	}
	var err error
	if t.recall, err = m.recall(ctx, root); err != nil {
		return nil, err
	}
	for _, s := range t.recall.placeholders {
		t.last = max(t.last, s.n)
	}
	_, err = (&collector{from: m.store.Reader, table: t, seen: map[string]bool{}, marks: true}).messages(ctx, tip)
	return &Document{m, t}, err
}

// root returns the commit that the first snapshot of a history goes back to; "" without a history.
func (m *Manager) root(ctx context.Context, tip string) (id string, err error) {
	if tip == "" {
		return "", nil
	}
	for info, err := range m.store.Ancestors(ctx, tip) {
		if err != nil {
			return "", err
		}
		id = keyOf(info.ID, info.Replaces)
	}
	return id, nil
}

// Learn takes over the numbers of secrets from the redacted form of a document that has grown since.
func (d *Document) Learn(stored, document []byte) {
	spans := []span(nil)
	for _, f := range d.table.findings(document, true) {
		spans = append(spans, span{start: f.Start, end: f.End, print: f.Fingerprint})
	}
	for i, j := 0, 0; i < len(document) && j < len(stored); {
		mark := markAt(stored, j)
		if mark == 0 || bytes.HasPrefix(document[i:], stored[j:j+mark]) {
			if document[i] != stored[j] {
				return
			}
			i, j = i+1, j+1
			continue
		}
		placeholder := string(stored[j : j+mark])
		end, print := endOf(&spans, i)
		if end == 0 {
			if end = d.table.spelled(document[i:], placeholder); end == 0 {
				return
			}
			i, j = i+end, j+mark
			continue
		}
		d.table.seed(learned{string(document[i:end]), placeholder, print})
		i, j = end, j+mark
	}
}

// spelled returns the length of the secret of a placeholder at the beginning of a text; 0 if another text is there.
func (t *table) spelled(text []byte, placeholder string) int {
	for _, form := range t.literals() {
		if t.forms[form] == placeholder && bytes.HasPrefix(text, []byte(form)) {
			return len(form)
		}
	}
	return 0
}

// partSize is how much of a document is redacted at once.
const partSize = 64 << 20

// Copy writes a document without its secrets.
func (d *Document) Copy(w io.Writer, document io.ReaderAt, size int64) error {
	err := parts(io.NewSectionReader(document, 0, size), func(part []byte) error { d.table.note(part, true); return nil })
	if err != nil {
		return err
	}
	return parts(io.NewSectionReader(document, 0, size), func(part []byte) error {
		text, _ := d.table.redact(part, true)
		_, err := w.Write(text)
		return err
	})
}

// parts reads content in parts that end with a line.
func parts(content *io.SectionReader, visit func(part []byte) error) error {
	buffer := make([]byte, 0, min(content.Size()+1, partSize))
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

// Bytes returns the content of a file without its secrets. What is not text stays as it is.
func (d *Document) Bytes(content []byte) []byte {
	if !isText(content) {
		return content
	}
	d.table.note(content, true)
	text, _ := d.table.redact(content, true)
	return text
}

// Secrets returns how many different secrets were replaced.
func (d *Document) Secrets() int { return len(d.table.prints) }

// Remember keeps the numbers of the secrets for the session with that newest snapshot.
func (d *Document) Remember(ctx context.Context, tip string) error {
	root, err := d.manager.root(ctx, tip)
	if err != nil || root == "" {
		return err
	}
	return d.manager.remember(ctx, root, d.table)
}

// forgetImports removes from the record of imports how the documents of redacted sessions go on, which may hold parts of them.
func (m *Manager) forgetImports(h *history, done map[string]string) error {
	record, err := sources.Open(m.env.StateDir)
	if err != nil {
		return err
	}
	sessions := map[string]bool{}
	for _, ref := range h.refs {
		if k, name := refname.Of(ref.Name); k == refname.Sessions {
			sessions[name] = true
		}
	}
	err = record.Forget(func(s *sources.Source) bool {
		if !sessions[s.Session] {
			return false
		}
		s.Growth, s.Before = nil, nil
		if now := done[s.Snapshot]; now != "" && now != s.Snapshot {
			before := *s // counts if the process is killed before the refs move
			s.Snapshot, s.Before = now, &before
		}
		return true
	})
	if err != nil {
		return err
	}
	return record.Save()
}
