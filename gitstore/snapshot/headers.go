package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// headers reads all headers of a snapshot.
func (r Reader) headers(root []odb.TreeEntry) ([]domarkx.HeaderEntry, error) {
	first, err := r.header(root, false)
	if err != nil {
		return nil, err
	}
	headers := []domarkx.HeaderEntry{first}
	others, err := object.Directory(root, "headers")
	if err != nil || others.IsZero() {
		return headers, err
	}
	directories, err := r.objects.Tree(others)
	if err != nil {
		return nil, err
	}
	for _, f := range directories {
		where := "headers/" + f.Name
		rev, err := domarkx.ParseRev(f.Name)
		if err != nil || rev.String() != f.Name || !f.IsTree() {
			return nil, fmt.Errorf("%s: %w: expected a directory with the name of a revision", where, domarkx.ErrCorrupt)
		}
		entries, err := r.objects.Tree(f.ID)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		h, err := r.header(entries, true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		h.Rev = rev
		headers = append(headers, h)
	}
	if err := checkHeaders(headers); err != nil {
		return nil, fmt.Errorf("headers: %w: %v", domarkx.ErrCorrupt, err)
	}
	return headers, nil
}

// header reads a header from its directory. named is false for the header in the root tree.
func (r Reader) header(entries []odb.TreeEntry, named bool) (domarkx.HeaderEntry, error) {
	line, err := r.objects.SmallFile(entries, "header")
	if err != nil {
		return domarkx.HeaderEntry{}, err
	}
	h, err := codec.DecodeHeaderFile(line, named)
	if err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	if h.JSON, err = object.File(entries, "snapshot.json"); err != nil {
		return h, err
	}
	if h.JSON.ID == "" {
		return h, fmt.Errorf("snapshot.json: %w: it is missing", domarkx.ErrCorrupt)
	}
	if h.Source, err = object.File(entries, "preamble.md"); err != nil {
		return h, err
	}
	h.Layout.Verbatim = h.Source.ID != ""
	for _, part := range []struct {
		name string
		id   *string
	}{{"includes", &h.Includes}, {"source", &h.Origin}} {
		id, err := object.Directory(entries, part.name)
		if err != nil {
			return h, err
		}
		*part.id = name(id)
	}
	return h, nil
}

// checkHeaders returns an error unless headers are valid and sorted by revision.
func checkHeaders(headers []domarkx.HeaderEntry) error {
	if len(headers) == 0 {
		return fmt.Errorf("no header: %w, expected at least one", domarkx.ErrInvalid)
	}
	for i := 1; i < len(headers); i++ {
		if bytes.Compare(headers[i-1].Rev[:], headers[i].Rev[:]) >= 0 {
			return fmt.Errorf("headers of revisions %s, %s: %w, expected ascending ones", headers[i-1].Rev, headers[i].Rev, domarkx.ErrInvalid)
		}
	}
	return nil
}

// rootTree stores the headers of a snapshot, and returns the entries of its root tree with that conversation and those tombstones.
func (b *Builder) rootTree(ctx context.Context, headers []domarkx.HeaderEntry, conversation, deleted odb.ID) ([]odb.TreeEntry, error) {
	if err := checkHeaders(headers); err != nil {
		return nil, err
	}
	root, err := b.headerFiles(ctx, &headers[0], false, conversation)
	if err != nil {
		return nil, err
	}
	var directories []odb.TreeEntry
	for i := range headers[1:] {
		h := &headers[1+i]
		entries, err := b.headerFiles(ctx, h, true, conversation)
		if err != nil {
			return nil, err
		}
		id, err := b.out.WriteTree(entries)
		if err != nil {
			return nil, err
		}
		directories = append(directories, odb.TreeEntry{Mode: odb.ModeTree, Name: h.Rev.String(), ID: id})
	}
	if len(directories) > 0 {
		id, err := b.out.WriteTree(directories)
		if err != nil {
			return nil, err
		}
		root = append(root, odb.TreeEntry{Mode: odb.ModeTree, Name: "headers", ID: id})
	}
	return object.WithDirectory(object.WithDirectory(root, "conversation", conversation), "deleted", deleted), nil
}

func (b *Builder) headerFiles(ctx context.Context, h *domarkx.HeaderEntry, named bool, conversation odb.ID) ([]odb.TreeEntry, error) {
	if h.Layout.Verbatim != !h.Source.IsZero() || h.JSON.IsZero() {
		return nil, fmt.Errorf("header: %w: no content, or author's bytes without being verbatim", domarkx.ErrInvalid)
	}
	if h.Layout.Within != 0 {
		return nil, fmt.Errorf("header: %w: its preamble cannot lie within another part", domarkx.ErrInvalid)
	}
	if err := b.out.StoreBlob(ctx, &h.JSON); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	entries, err := object.AppendFile(nil, "snapshot.json", h.JSON)
	if err != nil {
		return nil, err
	}
	if err := b.noteSnapshot(h, conversationName(conversation, h.Rev)); err != nil {
		return nil, err
	}
	if h.Layout.Verbatim {
		if err := b.out.StoreBlob(ctx, &h.Source); err != nil {
			return nil, fmt.Errorf("preamble: %w", err)
		}
		if entries, err = object.AppendFile(entries, "preamble.md", h.Source); err != nil {
			return nil, err
		}
	}
	line, err := codec.EncodeHeaderFile(*h, named)
	if err != nil {
		return nil, err
	}
	if line != nil {
		id, err := b.out.Write(odb.Blob, line)
		if err != nil {
			return nil, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: "header", ID: id})
	}
	for _, part := range []struct{ name, id string }{{"includes", h.Includes}, {"source", h.Origin}} {
		if part.id == "" {
			continue
		}
		id, err := odb.ParseID(part.id)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: part.name, ID: id})
	}
	return entries, nil
}

// Header returns the headers of a snapshot. The first one is effective; the others are in conflict with it.
func (r Reader) Header(_ context.Context, id string) ([]domarkx.HeaderEntry, error) {
	return part(r, id, r.headers)
}

// Tombstones returns the tombstones of a snapshot, sorted by id: those of the messages that were removed.
func (r Reader) Tombstones(_ context.Context, id string) ([]domarkx.Tombstone, error) {
	return part(r, id, r.tombstones)
}

func (r Reader) tombstones(root []odb.TreeEntry) ([]domarkx.Tombstone, error) {
	id, err := object.Directory(root, "deleted")
	if err != nil || id.IsZero() {
		return nil, err
	}
	files, err := r.objects.Tree(id)
	if err != nil {
		return nil, err
	}
	var dead []domarkx.Tombstone
	for _, f := range files {
		lines, err := r.objects.SmallFile(files, f.Name)
		if err != nil {
			return nil, err
		}
		bucket, err := codec.DecodeTombstones(f.Name, lines)
		if err != nil {
			return nil, fmt.Errorf("deleted/%s: %w", f.Name, err)
		}
		dead = append(dead, bucket...)
	}
	codec.SortTombstones(dead)
	return dead, nil
}

// tombstoneTree stores tombstones and returns the id of their directory, which is zero if there are none.
func (b *Builder) tombstoneTree(dead []domarkx.Tombstone) (odb.ID, error) {
	files, err := codec.Buckets(dead)
	if err != nil {
		return odb.ID{}, err
	}
	var entries []odb.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		id, err := b.out.Write(odb.Blob, codec.EncodeTombstones(files[name]))
		if err != nil {
			return odb.ID{}, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: name, ID: id})
	}
	return b.out.WriteTree(entries)
}
