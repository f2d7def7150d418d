package edit

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// statedVersion returns the workspace_version that a document states for a message. Anybody can
// write one, so it is not a link.
func statedVersion(m domarkx.Message) (jsonvalue.Value, bool) {
	return jsonvalue.ObjectValue(m.Extra...).Get(domarkx.WorkspaceVersion)
}

// withoutStated returns a message without a stated workspace_version.
func withoutStated(m domarkx.Message) domarkx.Message {
	m.Extra = jsonvalue.ObjectValue(m.Extra...).Without(domarkx.WorkspaceVersion).Members()
	return m
}

// WithStatedAsMetadata moves the workspace_version that a document states for a message to its
// metadata, which Markdown can represent.
func WithStatedAsMetadata(m domarkx.Message) domarkx.Message {
	stated, ok := statedVersion(m)
	if !ok {
		return m
	}
	m = withoutStated(m)
	view.SetMetadata(&m, domarkx.WorkspaceVersion, stated)
	return m
}

// withoutStatedMetadata reverses [WithStatedAsMetadata].
func withoutStatedMetadata(m domarkx.Message) domarkx.Message {
	metadata := m.Metadata.Without(domarkx.WorkspaceVersion)
	if m.Metadata = &metadata; len(metadata.Members()) == 0 {
		m.Metadata = nil
	}
	return m
}

// keepStated applies [WithStatedAsMetadata] to a message of a document, and preserves the message's bytes.
func keepStated(m *domarkx.WrittenMessage) {
	if _, ok := statedVersion(m.Message); !ok {
		return
	}
	if isWritten := m.Digest != [sha256.Size]byte{}; isWritten && !m.Verbatim {
		m.Bytes, m.Verbatim = markdown.RenderMessage(m.Message), true
	}
	m.Message = WithStatedAsMetadata(m.Message)
}

// StatedLinks turns the versions that a document states into links.
type StatedLinks struct {
	workspace string
	versions  map[string]bool // the versions of the workspace
	accepted  map[int]string  // message → stated version that becomes its link
	missing   []error         // a warning for each version that cannot be linked
	reported  map[string]bool // versions that are missing, each reported once
}

// NewStatedLinks returns links for the messages of one document. versions holds those of the workspace.
func NewStatedLinks(workspace string, versions map[string]bool) *StatedLinks {
	return &StatedLinks{workspace: workspace, versions: versions, accepted: map[int]string{}, reported: map[string]bool{}}
}

// accepts reports whether the version that a document states for message j can be linked. It adds a warning if not.
func (s *StatedLinks) accepts(j int, stated jsonvalue.Value) bool {
	if s.versions[stated.Text()] {
		return true
	}
	if text := string(stated.JSON()); !s.reported[text] {
		s.reported[text] = true
		s.missing = append(s.missing, fmt.Errorf("message %d: its workspace_version %s is not a version of the workspace %q in this repository; it is kept as metadata", j, text, s.workspace))
	}
	return false
}

// of returns the stated version to link to message j, or "" for none.
func (s *StatedLinks) of(j int, m domarkx.Message) string {
	if s == nil {
		return ""
	}
	if v := s.accepted[j]; v != "" {
		return v
	}
	if m.Metadata == nil {
		return ""
	}
	if stated, ok := m.Metadata.Get(domarkx.WorkspaceVersion); ok && s.accepts(j, stated) {
		return stated.Text()
	}
	return ""
}

// SettleStated removes a workspace_version from the messages of a document in memory if it becomes a link, or if the same
// message of the base has that link. Otherwise it moves the version to the metadata.
func (e *Edit) SettleStated(ctx context.Context) error {
	var known map[linkedText]bool
	for j := range e.Doc.Conversation {
		msg := &e.Doc.Conversation[j]
		stated, ok := statedVersion(msg.Message)
		if !ok {
			continue
		}
		if msg.Digest != [sha256.Size]byte{} {
			keepStated(msg)
			continue
		}
		if known == nil {
			var err error
			if known, err = e.linkedTexts(ctx); err != nil {
				return err
			}
		}
		plain := withoutStated(msg.Message)
		switch {
		case known[linkedText{stated.Text(), sha256.Sum256(view.PrettyJSON(plain.Value()))}]:
			msg.Message = plain
		case e.Stated != nil && e.Stated.accepts(j, stated):
			msg.Message, e.Stated.accepted[j] = plain, stated.Text()
		default:
			if e.moved == nil {
				e.moved = map[int]string{}
			}
			keepStated(msg)
			e.moved[j] = stated.Text()
		}
	}
	return nil
}

// A linkedText identifies a message by its content and link.
type linkedText struct {
	link string
	text [sha256.Size]byte
}

// linkedTexts returns the linked messages of the base.
func (e *Edit) linkedTexts(ctx context.Context) (map[linkedText]bool, error) {
	known := map[linkedText]bool{}
	if e.Base == nil {
		return known, nil
	}
	for i := range e.Base.Live.Len() {
		entry := e.Base.Live.At(i)
		if entry.Link == "" {
			continue
		}
		data, err := view.Read(ctx, e.Blobs, entry.JSON)
		if err != nil {
			return nil, err
		}
		known[linkedText{entry.Link, sha256.Sum256(data)}] = true
	}
	return known, nil
}

// linkFor returns the version that the user or the document's home requests as the link of message j, or "" for none.
func (e *Edit) linkFor(j int, m domarkx.Message) string {
	if v := e.Stated.of(j, m); v != "" {
		return v
	}
	return e.Linker.link(m)
}

// LinksMore reports whether messages of the base that the document does not change get links.
func (e *Edit) LinksMore(base domarkx.Entries) (bool, error) {
	if e.Linker == nil && e.Stated == nil {
		return false, nil
	}
	for j := range base.Len() {
		if base.At(j).Link != "" {
			continue
		}
		if msg, err := e.At(j); err != nil || e.linkFor(j, msg.Message) != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// NoteLink records a version that the next snapshot links for the first time.
func (e *Edit) NoteLink(version string) string {
	if version != "" && !e.linkedNow[version] {
		if e.linkedNow == nil {
			e.linkedNow = map[string]bool{}
		}
		e.linkedNow[version] = true
		e.NewLinks = append(e.NewLinks, version)
	}
	return version
}

// A Linker links messages to the workspace version that contains the files that they name.
type Linker struct {
	Version string
	Wants   func(m domarkx.Message) bool
}

// link returns the version to link a message to, or "" for none. A nil linker returns "".
func (l *Linker) link(m domarkx.Message) string {
	if l == nil || !l.Wants(m) {
		return ""
	}
	return l.Version
}
