package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"

	"github.com/klauspost/compress/s2"
)

// errBlock is the error for a damaged block.
var errBlock = errors.New("damaged block of texts")

// blockSize is the size in bytes of the texts that are compressed together. maxBlock is the largest size that is
// decompressed: a block has one text more than blockSize allows. Smaller blocks, for which S2 uses a smaller table,
// would take as much time and a twentieth more space.
const (
	blockSize = 16 << 10
	maxBlock  = 1 << 30
)

// A block contains the texts of some messages. Its stored form is compressed with S2, and a checksum (CRC-32C) follows.
// It consists of the number of messages; for each message, its number in the index, as the distance from the one
// before, and the size of its text; and the texts.
type block struct {
	ids   []int64
	sizes []int
	texts []byte
	plain []byte // memory that decode uses again
}

func (b *block) add(id int64, text []byte) {
	b.ids = append(b.ids, id)
	b.sizes = append(b.sizes, len(text))
	b.texts = append(b.texts, text...)
}

// messages yields the messages, each with its text.
func (b *block) messages() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		at := 0
		for i, id := range b.ids {
			if !yield(id, b.texts[at:at+b.sizes[i]]) {
				return
			}
			at += b.sizes[i]
		}
	}
}

func (b *block) encode() []byte {
	plain := binary.AppendUvarint(nil, uint64(len(b.ids)))
	last := int64(0)
	for i, id := range b.ids {
		plain = binary.AppendUvarint(plain, uint64(id-last))
		plain = binary.AppendUvarint(plain, uint64(b.sizes[i]))
		last = id
	}
	out := s2.Encode(nil, append(plain, b.texts...))
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli)))
}

// decode decodes a stored block, in the memory of the one before.
func (b *block) decode(data []byte) error {
	end := len(data) - crc32.Size
	if end < 0 || crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[end:]) {
		return errBlock
	}
	if n, err := s2.DecodedLen(data[:end]); err != nil || n > maxBlock {
		return errBlock
	}
	plain, err := s2.Decode(b.plain[:cap(b.plain)], data[:end])
	if err != nil {
		return fmt.Errorf("%w: %w", errBlock, err)
	}
	*b = block{ids: b.ids[:0], sizes: b.sizes[:0], plain: plain}
	number := func() uint64 {
		n, size := binary.Uvarint(plain)
		if size <= 0 {
			plain, err = nil, errBlock
			return 0
		}
		plain = plain[size:]
		return n
	}
	last, total := int64(0), uint64(0)
	for left := number(); left > 0 && err == nil; left-- {
		last += int64(number())
		size := number()
		total += size
		if total > uint64(len(b.plain)) {
			return errBlock
		}
		b.ids, b.sizes = append(b.ids, last), append(b.sizes, int(size))
	}
	if err == nil && total != uint64(len(plain)) {
		err = errBlock
	}
	b.texts = plain
	return err
}

// addBlock stores a block that contains messages, and the signature of its texts.
func (d *database) addBlock(b *block) {
	d.exec("INSERT INTO block(first, data) VALUES(?, ?)", b.ids[0], b.encode())
	d.exec("INSERT INTO signature(first, bits) VALUES(?, ?)", b.ids[0], []byte(sign(b.texts)))
}

func (d *database) removeBlock(first int64) {
	d.exec("DELETE FROM block WHERE first = ?", first)
	d.exec("DELETE FROM signature WHERE first = ?", first)
}
