package snapshot

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Open returns a stream of the original's bytes, which the caller closes. At its end it returns
// [domarkx.ErrCorrupt] if the digest differs.
func (o *Origin) Open() (io.ReadCloser, error) {
	return &originReader{origin: o, digest: sha256.New()}, nil
}

type originReader struct {
	origin  *Origin
	next    int // next segment
	leaf    []odb.TreeEntry
	segment io.ReadCloser
	size    int64
	digest  hash.Hash
}

func (r *originReader) Read(p []byte) (int, error) {
	for {
		if r.segment != nil {
			n, err := r.segment.Read(p)
			if n > 0 {
				r.size += int64(n)
				r.digest.Write(p[:n])
				return n, nil
			}
			if err == nil {
				continue
			}
			if err != io.EOF {
				return 0, err
			}
			if err := r.Close(); err != nil {
				return 0, err
			}
		}
		if r.next == r.origin.count {
			if r.size != r.origin.Size || [32]byte(r.digest.Sum(nil)) != r.origin.SHA256 {
				return 0, fmt.Errorf("original document: %w: its digest differs", domarkx.ErrCorrupt)
			}
			return 0, io.EOF
		}
		var err error
		if r.segment, err = r.open(r.next); err != nil {
			return 0, fmt.Errorf("original document, segment %d: %w", r.next, err)
		}
		r.next++
	}
}

func (r *originReader) Close() error {
	if r.segment == nil {
		return nil
	}
	err := r.segment.Close()
	r.segment = nil
	return err
}

// open opens segment i. It caches the leaf directory.
func (r *originReader) open(i int) (io.ReadCloser, error) {
	if i%leafWidth == 0 {
		leaf, err := r.origin.reader.leafBelow(r.origin.segments, i)
		if err != nil {
			return nil, err
		}
		if r.leaf, err = r.origin.reader.tree(leaf); err != nil {
			return nil, err
		}
	}
	return r.openIn(i)
}

// openIn opens segment i in the cached leaf directory.
func (r *originReader) openIn(i int) (io.ReadCloser, error) {
	b, err := stored(r.leaf, twoDigits(i%leafWidth))
	if err != nil {
		return nil, err
	}
	if b.ID == "" {
		return nil, fmt.Errorf("%w: it is missing", domarkx.ErrCorrupt)
	}
	content, _, err := r.origin.reader.open(b)
	return content, err
}
