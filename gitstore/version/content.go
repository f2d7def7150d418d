package version

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// knownContent stores content, and records which content will certainly exist when the version is stored: content in the
// batch, and content in the base, which a reference reaches. Other objects do not count although they exist, since git gc
// may be about to remove them.
type knownContent struct {
	versions Reader
	base     odb.ID
	batch    *odb.Batch

	limit bound        // of read
	read  atomic.Int64 // bytes
	calls atomic.Int64 // number of calls of store
	bytes atomic.Int64 // bytes read by these calls, without the rest of large content

	mu     sync.Mutex
	stored map[odb.ID]odb.ID // in the batch: object → chunk tree

	loadBlobs  sync.Once
	blobs      atomic.Pointer[map[odb.ID]odb.ID] // in the base: object → chunk tree
	loadChunks sync.Once
	chunks     atomic.Pointer[map[odb.ID]bool] // chunks of large files in the base
}

// The number of calls of store, or of bytes read, above which the list of all content in the base is loaded. Below it, to
// store content of the base again costs less than to load the list.
const (
	manyContents = 64
	manyBytes    = 256 << 10
)

func (k *knownContent) begin(s Reader, base odb.ID, batch *odb.Batch) {
	k.versions, k.base, k.batch = s, base, batch
	k.stored = map[odb.ID]odb.ID{}
	batch.Skip(func(id odb.ID) bool {
		if blobs := k.blobs.Load(); blobs != nil {
			if _, ok := (*blobs)[id]; ok {
				return s.db.Has(id) // a damaged repository or a partial clone may lack it
			}
		}
		chunks := k.chunks.Load()
		return chunks != nil && (*chunks)[id] && s.db.Has(id)
	})
}

// forget removes content from the batch that the base has at the same path: content that was read again because its stat is
// too young to show a change, or that was written again without one.
func (k *knownContent) forget(object odb.ID) {
	if k.calls.Load() == 0 {
		return
	}
	k.mu.Lock()
	_, stored := k.stored[object]
	k.mu.Unlock()
	if stored && k.versions.db.Has(object) {
		k.batch.Forget(object)
	}
}

// Content stores the content of a regular file, in chunks if it is large. See [domarkx.VersionWriter].
func (b *Writer) Content(ctx context.Context, r io.Reader) (id string, size int64, err error) {
	return b.known.store(ctx, r, chunked.Threshold)
}

// partThreshold is the size in bytes above which ContentInParts cuts content into chunks.
const partThreshold = 64 << 10

// ContentInParts is like Content, but stores content of more than 64 KiB in chunks. See [domarkx.PartWriter].
func (b *Writer) ContentInParts(ctx context.Context, r io.Reader) (id string, size int64, err error) {
	return b.known.store(ctx, r, partThreshold)
}

// store stores the content of r. Content of more than whole bytes is stored in chunks.
func (k *knownContent) store(ctx context.Context, r io.Reader, whole int) (id string, size int64, err error) {
	r = &cancelReader{ctx, r, k}
	var buffer bytes.Buffer
	if _, err := buffer.ReadFrom(io.LimitReader(r, int64(whole)+1)); err != nil {
		return "", 0, fmt.Errorf("read content: %w", err)
	}
	data := buffer.Bytes()
	if k.calls.Add(1) > manyContents || k.bytes.Add(int64(len(data))) > manyBytes {
		k.baseBlobs()
	}
	known := k.blobs.Load() // before the batch decides; another goroutine may load the list in between
	var object, chunks odb.ID
	if len(data) <= whole && !chunked.IsPointer(k.versions.db.Hash(), data) {
		size = int64(len(data))
		object, err = k.batch.Add(odb.Blob, data)
	} else {
		k.baseChunks()
		object, chunks, size, err = chunked.Add(k.batch, io.MultiReader(bytes.NewReader(data), r))
	}
	if err != nil {
		return "", 0, err
	}
	if known != nil {
		if there, ok := (*known)[object]; ok && there == chunks {
			return contentID(object, chunks), size, nil
		}
	}
	k.note(object, chunks)
	return contentID(object, chunks), size, nil
}

// note records that the batch contains content.
func (k *knownContent) note(object, chunks odb.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stored[object] = chunks
}

// A cancelReader reads from r until its context ends, and then returns the context's error, or until the version has all the
// bytes that it may have.
type cancelReader struct {
	ctx  context.Context
	r    io.Reader
	into *knownContent
}

func (r *cancelReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if over := r.into.limit.check(r.into.read.Add(int64(n))); over != nil {
		return 0, over
	}
	return n, err
}

// ensure makes sure that content will exist when the version is stored. It returns [domarkx.ErrNotFound] if the content does
// not exist.
func (k *knownContent) ensure(object, chunks odb.ID) error {
	k.mu.Lock()
	there, ok := k.stored[object]
	k.mu.Unlock()
	if ok && there == chunks {
		return nil
	}
	if there, ok := k.baseBlobs()[object]; ok && there == chunks {
		return nil
	}
	if err := k.adopt(object, chunks); err != nil {
		return err
	}
	k.note(object, chunks)
	return nil
}

// adopt stores existing content again in the batch, since git gc may remove the existing objects.
func (k *knownContent) adopt(object, chunks odb.ID) error {
	size, err := k.versions.contentSize(object, chunks)
	if err != nil {
		return err
	}
	if !chunks.IsZero() {
		large, _, err := chunked.Open(k.versions.db, object, chunks)
		if err != nil {
			return err
		}
		again, tree, _, err := chunked.Add(k.batch, large)
		if err == nil && (again != object || tree != chunks) {
			err = fmt.Errorf("content %s: %w: its chunks are not those that this program would store", contentID(object, chunks), domarkx.ErrCorrupt)
		}
		return err
	}
	data, err := k.versions.db.Blob(object)
	if err != nil {
		return err
	}
	if int64(len(data)) != size || chunked.IsPointer(k.versions.db.Hash(), data) {
		return fmt.Errorf("content %s: %w: it is a pointer to chunks, but the id names no chunk tree", object, domarkx.ErrInvalid)
	}
	_, err = k.batch.Add(odb.Blob, data)
	return err
}

// baseBlobs returns the blobs of all files in the base, each with its chunk tree, which is zero for small files. The first
// call loads them.
func (k *knownContent) baseBlobs() map[odb.ID]odb.ID {
	k.loadBlobs.Do(func() {
		blobs := map[odb.ID]odb.ID{}
		if !k.base.IsZero() {
			k.collect(k.base, blobs, map[odb.ID]bool{}, 0)
		}
		k.blobs.Store(&blobs)
	})
	return *k.blobs.Load()
}

// collect adds the blobs of the files below a directory. It skips directories that cannot be read, since their content can
// be stored again.
func (k *knownContent) collect(directory odb.ID, blobs map[odb.ID]odb.ID, seen map[odb.ID]bool, depth int) {
	if seen[directory] || depth > MaxDepth {
		return
	}
	seen[directory] = true
	entries, err := k.versions.db.Tree(directory)
	if err != nil {
		return
	}
	large := map[string]odb.ID{} // by the escaped name
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name, chunksPrefix); ok && e.IsTree() {
			large[name] = e.ID
		}
	}
	for _, e := range entries { // in a tree that Git wrote, not all can be decoded
		switch {
		case e.Mode == odb.ModeSubmodule || strings.HasPrefix(e.Name, chunksPrefix):
		case e.IsTree():
			k.collect(e.ID, blobs, seen, depth+1)
		default:
			name, hidden := strings.CutPrefix(e.Name, hiddenPrefix)
			if !hidden {
				name = escapeName(name)
			}
			if tree := large[name]; !tree.IsZero() || blobs[e.ID].IsZero() {
				blobs[e.ID] = tree
			}
		}
	}
}

// baseChunks loads the ids of all chunks in the base, so that the batch stores only the changed chunks of large files.
func (k *knownContent) baseChunks() {
	k.loadChunks.Do(func() {
		known := map[odb.ID]bool{}
		for _, tree := range k.baseBlobs() {
			if !tree.IsZero() {
				k.collectChunks(tree, known, 0)
			}
		}
		k.chunks.Store(&known)
	})
}

// maxChunkDepth limits the depth of a chunk tree. With 256 entries per node, the largest file needs
// six levels.
const maxChunkDepth = 48

func (k *knownContent) collectChunks(node odb.ID, known map[odb.ID]bool, depth int) {
	if known[node] || depth > maxChunkDepth {
		return
	}
	entries, err := k.versions.db.Tree(node)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsTree() {
			k.collectChunks(e.ID, known, depth+1)
		} else {
			known[e.ID] = true
		}
	}
	known[node] = true
}
