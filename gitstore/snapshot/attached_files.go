package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Files returns the files that are attached to a snapshot under a path, sorted by path.
func (r Reader) Files(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error) {
	return part(r, snapshot, func(root []odb.TreeEntry) ([]domarkx.AttachedFile, error) { return r.filesOf(ctx, root) })
}

func (r Reader) filesOf(ctx context.Context, root []odb.TreeEntry) ([]domarkx.AttachedFile, error) {
	id, err := attachmentsIn(root)
	if err != nil || id.IsZero() {
		return nil, err
	}
	top, err := r.objects.Tree(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", attachmentsName, err)
	}
	records := fileRecords{}
	if err := r.addFileRecords(ctx, records, top); err != nil {
		return nil, err
	}
	var files []domarkx.AttachedFile
	for path, digests := range records.live() {
		for _, digest := range digests {
			content := records[digest].Content
			size, ok, err := r.attachmentSize(top, content)
			if err != nil {
				return nil, err
			}
			if ok { // an attachment that only looks like a record is ignored
				files = append(files, domarkx.AttachedFile{Path: path, SHA256: content, Size: size})
				break
			}
		}
	}
	slices.SortFunc(files, func(a, b domarkx.AttachedFile) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// fileRecords contains the file records of snapshots, by the SHA-256 of the record.
type fileRecords map[string]codec.FileRecord

// live returns the records that no other record replaces, by path. If a path has several, as after a merge, they are
// sorted, and the first one is effective.
func (f fileRecords) live() map[string][]string {
	replaced := map[string]bool{}
	for _, record := range f {
		for _, digest := range record.Replaces {
			if f[digest].Path == record.Path {
				replaced[digest] = true
			}
		}
	}
	live := map[string][]string{}
	for _, digest := range slices.Sorted(maps.Keys(f)) {
		if !replaced[digest] {
			live[f[digest].Path] = append(live[f[digest].Path], digest)
		}
	}
	return live
}

// addFileRecords adds the records in the directory of a snapshot's attachments.
func (r Reader) addFileRecords(ctx context.Context, records fileRecords, top []odb.TreeEntry) error {
	for _, f := range top {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.IsTree() {
			continue // Fsck reports the error
		}
		if err := r.readFileRecords(records, f); err != nil {
			return fmt.Errorf("%s/%s: %w", attachmentsName, f.Name, err)
		}
	}
	return nil
}

// readFileRecords adds the records in one subdirectory of the directory of attachments.
func (r Reader) readFileRecords(records fileRecords, f odb.TreeEntry) error {
	entries, err := r.objects.Tree(f.ID)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Mode != odb.ModeFile || !codec.IsSHA256(f.Name+e.Name) {
			continue
		}
		size, err := r.objects.Size(e.ID)
		if err != nil {
			return err
		}
		if size < int64(len(codec.FileRecordHead)) || size > codec.MaxFileRecord {
			continue
		}
		data, err := r.objects.Blob(e.ID)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data) // differs for a pointer
		if record, ok := codec.DecodeFileRecord(data); ok && hex.EncodeToString(sum[:]) == f.Name+e.Name {
			records[f.Name+e.Name] = record
		}
	}
	return nil
}

// attachmentSize returns the size of an attachment, and whether it exists.
func (r Reader) attachmentSize(top []odb.TreeEntry, digest string) (int64, bool, error) {
	blob, err := r.attachmentBlob(top, digest)
	if err != nil || blob.ID == "" {
		return 0, false, err
	}
	if blob.Chunks != "" {
		content, size, err := r.objects.Open(blob)
		if err == nil {
			err = content.Close()
		}
		return size, err == nil, err
	}
	id, err := odb.ParseID(blob.ID)
	if err != nil {
		return 0, false, err
	}
	size, err := r.objects.Size(id)
	return size, err == nil, err
}

// storeFiles stores the records of the files of a new snapshot. roots are the root trees of its parents, whose records
// they may replace.
func (b *Builder) storeFiles(roots [][]odb.TreeEntry, files []domarkx.AttachedFile) ([]domarkx.Attachment, error) {
	if len(files) == 0 {
		return nil, nil
	}
	known := fileRecords{}
	directories, err := directoriesNamed(roots, attachmentsName)
	if err != nil {
		return nil, err
	}
	for _, id := range directories {
		top, err := b.objects.Tree(id)
		if err == nil {
			err = b.addFileRecords(context.Background(), known, top)
		}
		if err != nil {
			return nil, err
		}
	}
	live := known.live()
	files = slices.SortedFunc(slices.Values(files), func(x, y domarkx.AttachedFile) int { return cmp.Compare(x.Path, y.Path) })
	var added []domarkx.Attachment
	for i, f := range files {
		if err := domarkx.CheckFilePath(f.Path); err != nil {
			return nil, fmt.Errorf("file %q: %w", f.Path, err)
		}
		if i > 0 && files[i-1].Path == f.Path || !codec.IsSHA256(f.SHA256) {
			return nil, fmt.Errorf("file %q: %w, expected one content for it, by its SHA-256", f.Path, domarkx.ErrInvalid)
		}
		before := live[f.Path]
		if len(before) == 1 && known[before[0]].Content == f.SHA256 {
			continue
		}
		data := codec.FileRecord{Path: f.Path, Content: f.SHA256, Replaces: before[:min(len(before), codec.MaxReplaced)]}.Encode()
		id, err := b.out.Write(odb.Blob, data)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", f.Path, err)
		}
		sum := sha256.Sum256(data)
		added = append(added, domarkx.Attachment{SHA256: hex.EncodeToString(sum[:]), Blob: domarkx.Blob{ID: id.String()}})
	}
	return added, nil
}
