package document

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// maxGrowth is the maximum size in bytes of a new part, which is held in memory. If a document became longer by more,
// it is imported in the ordinary way, which reads it piece by piece.
const maxGrowth = 16 << 20

// An Addition is what a file has more than at its last import.
type Addition struct {
	Size   int64 // of the file
	Digest [sha256.Size]byte
	Unread []byte // content after the part that need not be decoded again
	Added  []byte // content after the old end
	Stamp  string // of the file before it was read; see [sources.Source]
}

// ReadAddition reads the bytes that were appended to a file. It returns nil if the old part has changed.
func ReadAddition(path string, known sources.Source) (*Addition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < known.Growth.Size || known.Growth.Read > known.Growth.Size {
		return nil, err
	}
	digest := sha256.New()
	if _, err := io.CopyN(digest, f, known.Growth.Read); err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxGrowth+1))
	if err != nil || len(rest) > maxGrowth {
		return nil, err
	}
	before := known.Growth.Size - known.Growth.Read
	if int64(len(rest)) < before {
		return nil, nil
	}
	digest.Write(rest[:before])
	if hex.EncodeToString(digest.Sum(nil)) != known.Digest {
		return nil, nil
	}
	digest.Write(rest[before:])
	more := &Addition{Size: known.Growth.Read + int64(len(rest)), Unread: rest, Added: rest[before:], Stamp: Stamp(info, time.Now())}
	digest.Sum(more.Digest[:0])
	return more, nil
}
