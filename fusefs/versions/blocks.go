//go:build linux || darwin

package versions

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx"
)

const (
	blockSize = 1 << 20 // bytes that are read of a large content at once
	maxBlocks = 8       // that are kept of one
	ahead     = 3       // that are read before they are wanted
	// largeFrom is the size from which contents are read in blocks: these have to be
	// put together from pieces, which are read more than once when the kernel reads
	// several parts at once.
	largeFrom = 4 << 20
)

// blocks reads a large content in blocks, and ahead while somebody reads them one
// after the other. Neither depends the memory that takes on the size.
type blocks struct {
	of    domarkx.Content
	spare *sync.Pool // of *[blockSize]byte

	mu   sync.Mutex
	kept []*block // the last used last
	last int64    // block that was read last
	work sync.WaitGroup
}

type block struct {
	number int64
	ready  chan struct{} // closed when data or err is there
	data   []byte
	err    error

	memory *[blockSize]byte
	users  int // who reads from it, while it is read itself, and while it is kept; guarded by blocks.mu
}

func newBlocks(of domarkx.Content, spare *sync.Pool) *blocks {
	return &blocks{of: of, spare: spare, last: -1}
}

func (b *blocks) Size() int64 { return b.of.Size() }

// ReadAt reads as io.ReaderAt says.
func (b *blocks) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("offset %d: %w", off, domarkx.ErrInvalid)
	}
	want := int(min(int64(len(p)), max(0, b.Size()-off)))
	l, err := b.lend(min(off, b.Size()), want)
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

// A loan is a part of a content where blocks have it, until it is done: an answer to
// the kernel that needs no copy.
type loan struct {
	of     *blocks
	blocks []*block
	parts  [][]byte
	size   int
}

var _ fuse.ReadResult = (*loan)(nil)

// Size returns the number of bytes.
func (l *loan) Size() int { return l.size }

// Slices returns the bytes.
func (l *loan) Slices() ([][]byte, fuse.Status) { return l.parts, fuse.OK }

// Bytes returns the bytes in one piece, in buf.
func (l *loan) Bytes(buf []byte) ([]byte, fuse.Status) {
	n := 0
	for _, part := range l.parts {
		n += copy(buf[n:], part)
	}
	return buf[:n], fuse.OK
}

// Done gives back the blocks.
func (l *loan) Done() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	for _, k := range l.blocks {
		l.of.leave(k)
	}
	l.blocks, l.parts = nil, nil
}

// lend returns size bytes from an offset on.
func (b *blocks) lend(off int64, size int) (*loan, error) {
	if off < 0 || int64(size) > b.Size()-off {
		return nil, io.ErrUnexpectedEOF
	}
	l := &loan{of: b}
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

// get returns a block, which is perhaps only being read; leave has to follow.
func (b *blocks) get(number int64) *block {
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

// prepare begins to read the first blocks.
func (b *blocks) prepare() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin(0)
	b.beginAfter(0)
}

// beginAfter begins to read the blocks after one. b.mu is held.
func (b *blocks) beginAfter(number int64) {
	for next := number + 1; next <= number+ahead && next*blockSize < b.Size(); next++ {
		b.begin(next)
	}
}

// begin begins to read a block that is not kept. b.mu is held.
func (b *blocks) begin(number int64) *block {
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
		if k.err = full(n, len(data), err); k.err == nil {
			k.data = data
		}
		close(k.ready)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.leave(k)
	})
	return k
}

// leave ends a use of a block. b.mu is held.
func (b *blocks) leave(k *block) {
	if k.users--; k.users == 0 {
		b.spare.Put(k.memory)
		k.memory, k.data = nil, nil
	}
}

// Close closes the content when nothing is read any more. What was lent can still be
// used.
func (b *blocks) Close() error {
	b.work.Wait()
	b.mu.Lock()
	for _, k := range b.kept {
		b.leave(k)
	}
	b.kept = nil
	b.mu.Unlock()
	return b.of.Close()
}
