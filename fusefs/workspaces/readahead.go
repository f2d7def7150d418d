//go:build linux || darwin

package workspaces

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx/format/domarkx"
)

const (
	blockSize = 1 << 20 // bytes of a block
	maxBlocks = 8       // cached blocks of a content
	ahead     = 3       // blocks to read ahead
	// largeFrom is the size in bytes from which contents are read in blocks. The store
	// keeps large contents in chunks. Without the blocks, concurrent reads of the kernel
	// would read a chunk more than once.
	largeFrom = 4 << 20
)

// A readAhead reads a large content in blocks. While blocks are read in order, it reads
// the next ones ahead. Its memory does not depend on the size of the content.
type readAhead struct {
	of    domarkx.Content
	spare *sync.Pool // of *[blockSize]byte

	mu   sync.Mutex
	kept []*block // the last used last
	last int64    // number of the block that was read last
	work sync.WaitGroup
}

type block struct {
	number int64
	ready  chan struct{} // closed when data or err is set
	data   []byte
	err    error

	memory *[blockSize]byte
	users  int // readers, plus one while it is loading and one while it is cached; guarded by readAhead.mu
}

func newReadAhead(of domarkx.Content, spare *sync.Pool) *readAhead {
	return &readAhead{of: of, spare: spare, last: -1}
}

func (b *readAhead) Size() int64 { return b.of.Size() }

// ReadAt implements io.ReaderAt.
func (b *readAhead) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("offset %d: %w", off, domarkx.ErrInvalid)
	}
	want := int(min(int64(len(p)), max(0, b.Size()-off)))
	l, err := b.borrow(min(off, b.Size()), want)
	if err != nil {
		return 0, err
	}
	defer l.Done()
	l.Bytes(p)
	if want < len(p) {
		return want, io.EOF
	}
	return want, nil
}

// A borrowedBuffer is a part of a content that refers to the memory of its blocks, until
// Done. So it is not copied for an answer to the kernel.
type borrowedBuffer struct {
	of     *readAhead
	blocks []*block
	parts  [][]byte
	size   int
}

var _ fuse.ReadResult = (*borrowedBuffer)(nil)

// Size returns the number of bytes.
func (l *borrowedBuffer) Size() int { return l.size }

func (l *borrowedBuffer) Slices() ([][]byte, fuse.Status) { return l.parts, fuse.OK }

func (l *borrowedBuffer) Bytes(buf []byte) ([]byte, fuse.Status) {
	n := 0
	for _, part := range l.parts {
		n += copy(buf[n:], part)
	}
	return buf[:n], fuse.OK
}

// Done releases the blocks.
func (l *borrowedBuffer) Done() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	for _, k := range l.blocks {
		l.of.leave(k)
	}
	l.blocks, l.parts = nil, nil
}

func (b *readAhead) borrow(off int64, size int) (*borrowedBuffer, error) {
	if off < 0 || int64(size) > b.Size()-off {
		return nil, io.ErrUnexpectedEOF
	}
	l := &borrowedBuffer{of: b}
	for l.size < size {
		k := b.get(off / blockSize)
		l.blocks = append(l.blocks, k)
		<-k.ready
		if k.err != nil {
			l.Done()
			return nil, k.err
		}
		part := k.data[off%blockSize:]
		part = part[:min(len(part), size-l.size)]
		l.parts = append(l.parts, part)
		l.size, off = l.size+len(part), off+int64(len(part))
	}
	return l, nil
}

// get returns a block, which may not be loaded yet. The caller must call leave.
func (b *readAhead) get(number int64) *block {
	b.mu.Lock()
	defer b.mu.Unlock()
	wanted := b.begin(number)
	wanted.users++
	if number == b.last+1 || number == 0 {
		b.beginAfter(number)
	}
	b.last = number
	return wanted
}

// prepare starts to read the first blocks.
func (b *readAhead) prepare() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin(0)
	b.beginAfter(0)
}

// beginAfter starts to read the blocks that follow one. b.mu must be held.
func (b *readAhead) beginAfter(number int64) {
	for next := number + 1; next <= number+ahead && next*blockSize < b.Size(); next++ {
		b.begin(next)
	}
}

// begin returns a block. It starts to read the block unless that is cached. b.mu must be
// held.
func (b *readAhead) begin(number int64) *block {
	if i := slices.IndexFunc(b.kept, func(k *block) bool { return k.number == number }); i >= 0 {
		found := b.kept[i]
		b.kept = append(slices.Delete(b.kept, i, i+1), found)
		return found
	}
	k := &block{number: number, ready: make(chan struct{}), users: 2}
	if len(b.kept) >= maxBlocks {
		b.leave(b.kept[0])
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	b.kept = append(b.kept, k)
	if k.memory, _ = b.spare.Get().(*[blockSize]byte); k.memory == nil {
		k.memory = new([blockSize]byte)
	}
	b.work.Go(func() {
		data := k.memory[:min(blockSize, b.Size()-number*blockSize)]
		n, err := b.of.ReadAt(data, number*blockSize)
		if k.err = checkFull(n, len(data), err); k.err == nil {
			k.data = data
		}
		close(k.ready)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.leave(k)
	})
	return k
}

// leave ends a use of a block. b.mu must be held.
func (b *readAhead) leave(k *block) {
	if k.users--; k.users == 0 {
		b.spare.Put(k.memory)
		k.memory, k.data = nil, nil
	}
}

// Close waits for running reads and closes the content. Borrowed buffers stay valid.
func (b *readAhead) Close() error {
	b.work.Wait()
	b.mu.Lock()
	for _, k := range b.kept {
		b.leave(k)
	}
	b.kept = nil
	b.mu.Unlock()
	return b.of.Close()
}
