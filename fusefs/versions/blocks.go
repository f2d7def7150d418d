//go:build linux || darwin

package versions

import (
	"fmt"
	"io"
	"slices"
	"sync"

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
	of domarkx.Content

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
}

func (b *blocks) Size() int64 { return b.of.Size() }

// ReadAt reads as io.ReaderAt says.
func (b *blocks) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("offset %d: %w", off, domarkx.ErrInvalid)
	}
	for n < len(p) {
		if off >= b.Size() {
			return n, io.EOF
		}
		at := b.get(off / blockSize)
		<-at.ready
		if at.err != nil {
			return n, at.err
		}
		m := copy(p[n:], at.data[off%blockSize:])
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

// get returns a block, which is perhaps only being read.
func (b *blocks) get(number int64) *block {
	b.mu.Lock()
	defer b.mu.Unlock()
	wanted := b.begin(number)
	if number == b.last+1 || number == 0 {
		for next := number + 1; next <= number+ahead && next*blockSize < b.Size(); next++ {
			b.begin(next)
		}
	}
	b.last = number
	return wanted
}

// begin begins to read a block that is not kept. b.mu is held.
func (b *blocks) begin(number int64) *block {
	if i := slices.IndexFunc(b.kept, func(k *block) bool { return k.number == number }); i >= 0 {
		found := b.kept[i]
		b.kept = append(slices.Delete(b.kept, i, i+1), found)
		return found
	}
	k := &block{number: number, ready: make(chan struct{})}
	if len(b.kept) >= maxBlocks {
		b.kept = slices.Delete(b.kept, 0, 1)
	}
	b.kept = append(b.kept, k)
	b.work.Go(func() {
		defer close(k.ready)
		data := make([]byte, min(blockSize, b.Size()-number*blockSize))
		n, err := b.of.ReadAt(data, number*blockSize)
		if k.err = full(n, len(data), err); k.err == nil {
			k.data = data
		}
	})
	return k
}

// Close closes the content when nothing is read any more.
func (b *blocks) Close() error {
	b.work.Wait()
	return b.of.Close()
}
