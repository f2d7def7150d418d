package edition

import (
	"context"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// Limits of the search for an identical export.
const (
	maxExported      = 8
	maxExportedBytes = 64 << 20
)

// Exported returns a recent snapshot whose export is byte for byte the document, or "" if there is none. It leaves out
// snapshots of imports, because an identical document may come from another source.
func (m Maker) Exported(ctx context.Context, c *document.Content, codec format.Codec, h domarkx.Header, tip domarkx.Info) (string, error) {
	seen, size := 0, int64(0)
	for info, err := range m.Store.Ancestors(ctx, tip.ID) {
		if err != nil {
			return "", err
		}
		switch {
		case info.Operation == "import",
			codec.Name == string(engine.Markdown) && info.Bytes != c.Size,
			codec.Name == string(engine.JSON) && engine.DerivedSnapshotID(info.ID) != h.SnapshotID:
			continue
		}
		seen, size = seen+1, size+info.Bytes
		if seen > maxExported || size > maxExportedBytes && seen > 1 {
			break
		}
		e := &engine.Export{Name: tip.Name, Codec: codec}
		if err := m.Sessions.ExportWhole(ctx, e, info, engine.ExportRequest{}); err != nil {
			return "", err
		}
		same, err := e.Is(c.All())
		if err != nil || same {
			return info.ID, err
		}
	}
	return "", nil
}

// IsOriginal reports whether a snapshot was imported from exactly the bytes of a document.
func (m Maker) IsOriginal(ctx context.Context, c *document.Content, codec format.Codec, snapshot string) (bool, error) {
	origin, _, err := m.Sessions.OriginOf(ctx, snapshot, codec)
	if err != nil || origin == nil || origin.Size != c.Size {
		return false, err
	}
	content, err := origin.Open()
	if err != nil {
		return false, err
	}
	defer content.Close()
	return local.SameContent(content, c.All())
}

// isExport reports whether the document is byte for byte an export of the session: of the base, or of the document as
// it was read.
func (mk *making) isExport(ctx context.Context, was *shown) (bool, error) {
	if was.digest == mk.Digest {
		return true, nil
	}
	if engine.IsForm(mk.Codec.Name) {
		return false, nil
	}
	s := format.Stream{Header: mk.Edit.Doc.Header, Messages: mk.Edit.Messages}
	if s.Messages == nil {
		s.Messages = format.Conversation(mk.Edit.Doc.Conversation)
	}
	e := &engine.Export{Name: mk.tip.Name, Codec: mk.Codec}
	if err := engine.Encode(e, s, format.Target{Session: e.Name, Losses: &e.Losses, Records: all.Records}); err != nil {
		return false, err
	}
	return e.Is(mk.All())
}
