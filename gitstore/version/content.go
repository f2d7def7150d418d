package version

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// knownContent knows which content is certain to exist once the version is stored: content in the
// batch, or in the base, which references reach. Other existing objects do not count, since a
// collection may be about to remove them.
type knownContent struct {
	versions Store
	base     odb.ID
	batch    *odb.Batch

	buffers sync.Pool    // of *[]byte
	calls   atomic.Int64 // calls of Content
	bytes   atomic.Int64 // bytes passed to Content

	mu     sync.Mutex
	stored map[odb.ID]odb.ID // in the batch: object → chunk tree

	loadBlobs  sync.Once
	blobs      atomic.Pointer[map[odb.ID]odb.ID] // in the base: object → chunk tree
	loadChunks sync.Once
	chunks     atomic.Pointer[map[odb.ID]bool] // chunks of large files in the base
}

// The number of contents, or of bytes, from which on all content of the base is loaded. Storing fewer
// of them again costs little.
const (
	manyContents = 64
	manyBytes    = 256 << 10
)

func (k *knownContent) begin(s Store, base odb.ID, batch *odb.Batch) {
	k.versions, k.base, k.batch = s, base, batch
	k.stored = map[odb.ID]odb.ID{}
	batch.Skip(func(id odb.ID) bool {
		if blobs := k.blobs.Load(); blobs != nil {
			if _, ok := (*blobs)[id]; ok {
				return true
			}
		}
		chunks := k.chunks.Load()
		return chunks != nil && (*chunks)[id]
	})
}

// Content stores the content of a regular file. See [domarkx.VersionWriter].
func (b *Writer) Content(ctx context.Context, r io.Reader) (id string, size int64, err error) {
	return b.known.store(ctx, r, chunked.Threshold)
}

// partThreshold is the size in bytes above which ContentInParts cuts content into chunks.
const partThreshold = 64 << 10

// ContentInParts stores the content of a regular file. See [domarkx.PartWriter].
func (b *Writer) ContentInParts(ctx context.Context, r io.Reader) (id string, size int64, err error) {
	return b.known.store(ctx, r, partThreshold)
}

const (
	firstBuffer = 64 << 10
	keptBuffer  = 1 << 20 // larger buffers are not reused
)

// store stores content. Content over whole bytes is stored in chunks.
func (k *knownContent) store(ctx context.Context, r io.Reader, whole int) (id string, size int64, err error) {
	r = &cancelReader{ctx, r}
	buffer, _ := k.buffers.Get().(*[]byte)
	if buffer == nil {
		buffer = new([]byte)
		*buffer = make([]byte, 0, firstBuffer)
	}
	data, ended, err := readUpTo(r, (*buffer)[:0], whole)
	defer func() {
		if cap(data) <= keptBuffer {
			*buffer = data
			k.buffers.Put(buffer)
		}
	}()
	if err != nil {
		return "", 0, fmt.Errorf("read content: %w", err)
	}
	if k.calls.Add(1) > manyContents || k.bytes.Add(int64(len(data))) > manyBytes {
		k.baseBlobs()
	}
	var object, chunks odb.ID
	if ended && !chunked.IsPointer(data) {
		size = int64(len(data))
		object, err = k.batch.Add(odb.Blob, data)
	} else {
		k.baseChunks()
		object, chunks, size, err = chunked.Add(k.batch, io.MultiReader(bytes.NewReader(data), r))
	}
	if err != nil {
		return "", 0, err
	}
	k.note(object, chunks)
	return contentID(object, chunks), size, nil
}

// note records content that the batch stores, unless the base has it.
func (k *knownContent) note(object, chunks odb.ID) {
	if blobs := k.blobs.Load(); blobs != nil {
		if there, ok := (*blobs)[object]; ok && there == chunks {
			return
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stored[object] = chunks
}

// readUpTo appends the content of r to data until it has more than limit bytes. whole reports that r
// ended before that.
func readUpTo(r io.Reader, data []byte, limit int) (_ []byte, whole bool, err error) {
	for len(data) <= limit {
		if len(data) == cap(data) {
			grown := make([]byte, len(data), min(2*cap(data), limit+1+bytes.MinRead))
			copy(grown, data)
			data = grown
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, len(data) <= limit, nil
		}
		if err != nil {
			return data, false, err
		}
	}
	return data, false, nil
}

// A cancelReader returns an error when its context has ended.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *cancelReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// ensure ensures that content will exist. Missing content is [domarkx.ErrNotFound].
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

// adopt stores existing content again, since no reference may reach it.
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
			err = fmt.Errorf("content %s: %w: it is not stored as it should be", contentID(object, chunks), domarkx.ErrCorrupt)
		}
		return err
	}
	data, err := k.versions.db.Blob(object)
	if err != nil {
		return err
	}
	if int64(len(data)) != size || chunked.IsPointer(data) {
		return fmt.Errorf("content %s: %w: it is a pointer without its content", object, domarkx.ErrInvalid)
	}
	_, err = k.batch.Add(odb.Blob, data)
	return err
}

// baseBlobs returns the objects of all files in the base, with the chunk trees of large ones.
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

// collect adds the files below a directory. It skips what cannot be read; such content is stored
// again.
func (k *knownContent) collect(directory odb.ID, blobs map[odb.ID]odb.ID, seen map[odb.ID]bool, depth int) {
	if seen[directory] || depth > MaxDepth {
		return
	}
	seen[directory] = true
	entries, err := k.versions.db.Tree(directory)
	if err != nil {
		return
	}
	children, chunks, err := decodeChildren(entries)
	if err != nil {
		return
	}
	large := map[string]odb.ID{}
	for _, e := range chunks {
		if name, err := unescapeName(e.Name[len(chunksPrefix):]); err == nil && e.IsTree() {
			large[name] = e.ID
		}
	}
	for i := range children {
		c := &children[i]
		if c.Type == domarkx.Directory {
			k.collect(c.object, blobs, seen, depth+1)
		} else if tree := large[c.Name]; !tree.IsZero() || blobs[c.object].IsZero() {
			blobs[c.object] = tree
		}
	}
}

// baseChunks loads the ids of all chunks in the base, so that only the changed chunks of large files
// are stored.
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
