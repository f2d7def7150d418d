package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// attachmentsName is the directory of a snapshot's attachments. An attachment is stored in the
// subdirectory named by the first two digits of its SHA-256, under the other 62 digits.
const attachmentsName = "attachments"

// StoreAttachment stores the content of r, for example a tool's output that is too long for its message. It returns a
// blob for [domarkx.Commit], and the content's SHA-256 in hexadecimal digits. It keeps at most [chunked.Threshold]
// bytes in memory.
func (b *Builder) StoreAttachment(ctx context.Context, r io.Reader) (domarkx.Blob, string, error) {
	if err := ctx.Err(); err != nil {
		return domarkx.Blob{}, "", err
	}
	sum := sha256.New()
	r = io.TeeReader(contextReader{ctx, r}, sum)
	var head bytes.Buffer
	if _, err := io.CopyN(&head, r, chunked.Threshold+1); err != nil && !errors.Is(err, io.EOF) {
		return domarkx.Blob{}, "", fmt.Errorf("attachment: %w", err)
	}
	var blob domarkx.Blob
	if head.Len() <= chunked.Threshold && !chunked.IsPointer(b.out.Hash(), head.Bytes()) {
		write := b.out.WriteUnread
		if head.Len() <= codec.MaxFileRecord { // later steps of the update can read a file record
			write = b.out.Write
		}
		id, err := write(odb.Blob, head.Bytes())
		if err != nil {
			return domarkx.Blob{}, "", fmt.Errorf("attachment: %w", err)
		}
		blob.ID = id.String()
	} else {
		var err error
		if blob, err = b.out.StoreChunks(io.MultiReader(&head, r)); err != nil {
			return domarkx.Blob{}, "", fmt.Errorf("attachment: %w", err)
		}
	}
	return blob, hex.EncodeToString(sum.Sum(nil)), nil
}

// A contextReader reads from r until its context ends, and then returns the context's error.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// attachmentTree stores the directory of the attachments of a new snapshot: those in snapshots with the given root
// trees, and new ones. It returns the zero id if there are none. It does not write subdirectories again that those
// snapshots have.
func (b *Builder) attachmentTree(roots [][]odb.TreeEntry, added []domarkx.Attachment) (odb.ID, error) {
	known, err := directoriesNamed(roots, attachmentsName)
	if err != nil {
		return odb.ID{}, err
	}
	directories := map[string][]odb.TreeEntry{}
	for _, a := range added {
		if !codec.IsSHA256(a.SHA256) {
			return odb.ID{}, fmt.Errorf("attachment %q: %w, expected a SHA-256", a.SHA256, domarkx.ErrInvalid)
		}
		entries, err := object.AppendFile(directories[a.SHA256[:2]], a.SHA256[2:], a.Blob)
		if err != nil {
			return odb.ID{}, err
		}
		directories[a.SHA256[:2]] = entries
	}
	switch {
	case len(added) == 0 && len(known) == 0:
		return odb.ID{}, nil
	case len(added) == 0 && len(known) == 1:
		return known[0], nil
	}
	return b.unionOfDirectories(known, directories)
}

// unionOfDirectories stores the directory that contains the subdirectories of some trees and further ones.
func (b *Builder) unionOfDirectories(known []odb.ID, directories map[string][]odb.TreeEntry) (odb.ID, error) {
	below := map[string][]odb.ID{}
	for _, id := range known {
		if err := b.out.Know(id, 1); err != nil {
			return odb.ID{}, fmt.Errorf("%s: %w", attachmentsName, err)
		}
		entries, err := b.objects.Tree(id)
		if err != nil {
			return odb.ID{}, fmt.Errorf("%s: %w", attachmentsName, err)
		}
		for _, e := range entries {
			if !e.IsTree() {
				return odb.ID{}, fmt.Errorf("%s: %w: %q is not a directory", attachmentsName, domarkx.ErrCorrupt, e.Name)
			}
			if !slices.Contains(below[e.Name], e.ID) {
				below[e.Name] = append(below[e.Name], e.ID)
			}
		}
	}
	for name := range directories {
		if _, ok := below[name]; !ok {
			below[name] = nil
		}
	}
	var top []odb.TreeEntry
	for name, ids := range below {
		var id odb.ID
		if len(ids) == 1 && directories[name] == nil {
			id = ids[0]
		} else {
			entries, err := b.unionOfFiles(ids, directories[name])
			if err != nil {
				return odb.ID{}, fmt.Errorf("%s/%s: %w", attachmentsName, name, err)
			}
			if id, err = b.out.WriteTree(entries); err != nil {
				return odb.ID{}, err
			}
		}
		top = append(top, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	}
	return b.out.WriteTree(top)
}

// unionOfFiles returns the entries of some trees, and further entries. If entries of the same name differ, it takes the
// one with the smallest id: only damage or forgery can cause that.
func (b *Builder) unionOfFiles(known []odb.ID, added []odb.TreeEntry) ([]odb.TreeEntry, error) {
	byName := map[string]odb.TreeEntry{}
	for _, id := range known {
		entries, err := b.objects.Tree(id)
		if err != nil {
			return nil, err
		}
		added = append(added, entries...)
	}
	for _, e := range added {
		if old, ok := byName[e.Name]; !ok || e.ID.Compare(old.ID) < 0 {
			byName[e.Name] = e
		}
	}
	return slices.Collect(maps.Values(byName)), nil
}

// Attachment opens an attachment of a snapshot, given by its SHA-256 in hexadecimal digits. It returns
// [domarkx.ErrNotFound] if the snapshot has no such attachment.
func (r Reader) Attachment(ctx context.Context, snapshot, sha256hex string) (domarkx.Content, error) {
	missing := fmt.Errorf("attachment %q: %w", sha256hex, domarkx.ErrNotFound)
	digits := strings.ToLower(sha256hex)
	if !codec.IsSHA256(digits) {
		return nil, fmt.Errorf("%w, expected 64 hexadecimal digits", missing)
	}
	top, err := cmp.Or(r.lastDirectory, &lastDirectory{}).of(r, snapshot)
	if err != nil {
		return nil, err
	}
	blob, err := r.attachmentBlob(top, digits)
	if err != nil {
		return nil, err
	}
	if blob.ID == "" {
		return nil, missing
	}
	if blob.Chunks != "" {
		blob.ID += "+" + blob.Chunks
	}
	return r.Content(ctx, blob.ID)
}

// A lastDirectory caches the directory of attachments that was read last: a turn of a chat reads thousands of attachments
// of one snapshot.
type lastDirectory struct {
	mu       sync.Mutex
	snapshot string
	entries  []odb.TreeEntry
}

// of returns the entries of the directory of a snapshot's attachments, none if it has no attachments.
func (l *lastDirectory) of(r Reader, snapshot string) (entries []odb.TreeEntry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.snapshot != "" && l.snapshot == snapshot {
		return l.entries, nil
	}
	id, err := part(r, snapshot, attachmentsIn)
	if err == nil && !id.IsZero() {
		entries, err = r.objects.Tree(id)
	}
	if err == nil {
		l.snapshot, l.entries = snapshot, entries
	}
	return entries, err
}

// attachmentsIn returns the directory of a snapshot's attachments.
func attachmentsIn(root []odb.TreeEntry) (odb.ID, error) {
	return object.Directory(root, attachmentsName)
}

// attachmentBlob returns the blob of the attachment with a SHA-256 in the directory of all attachments, or a zero blob
// if the attachment does not exist.
func (r Reader) attachmentBlob(top []odb.TreeEntry, digest string) (domarkx.Blob, error) {
	id, err := object.Directory(top, digest[:2])
	if err != nil || id.IsZero() {
		return domarkx.Blob{}, err
	}
	entries, err := r.objects.Tree(id)
	if err != nil {
		return domarkx.Blob{}, err
	}
	return object.File(entries, digest[2:])
}

// AttachmentsID returns the id of the directory of a snapshot's attachments, or "" if it has none. Snapshots with the
// same attachments have the same id.
func (r Reader) AttachmentsID(_ context.Context, snapshot string) (string, error) {
	id, err := part(r, snapshot, attachmentsIn)
	return name(id), err
}

// AttachmentsOf returns all attachments of a snapshot, including file records, sorted by SHA-256.
func (r Reader) AttachmentsOf(_ context.Context, snapshot string) ([]domarkx.Attachment, error) {
	top, err := part(r, snapshot, attachmentsIn)
	if err != nil || top.IsZero() {
		return nil, err
	}
	directories, err := r.objects.Tree(top)
	if err != nil {
		return nil, err
	}
	var all []domarkx.Attachment
	for _, d := range directories {
		if !d.IsTree() {
			continue
		}
		entries, err := r.objects.Tree(d.ID)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsTree() {
				continue // the chunk tree of a large attachment, which has its own entry
			}
			blob, err := object.File(entries, e.Name)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", attachmentsName, d.Name, err)
			}
			all = append(all, domarkx.Attachment{SHA256: d.Name + e.Name, Blob: blob})
		}
	}
	return all, nil
}
