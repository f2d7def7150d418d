package database

import "hash/fnv"

// The rows of a table are divided into files where a row's own digest says so. So an inserted
// row does not move other rows to another file.
const (
	perFile      = 8 << 10   // bytes, on average
	perDirectory = 64        // files, on average
	maxFile      = 256 << 10 // bytes, except for a longer row
	oneFile      = 64 << 10  // bytes of rows that stay in one file
)

// cut reports whether a file with so many bytes ends after a row, and whether its directory does.
func cut(row []byte, size int) (file, directory bool) {
	h := fnv.New64a()
	h.Write(row)
	d := h.Sum64()
	// The low bits of FNV hardly depend on the last bytes; this mixes them.
	d ^= d >> 33
	d *= 0xff51afd7ed558ccd
	d ^= d >> 33
	file = d%perFile < uint64(len(row)) || size >= maxFile
	return file, file && d>>32%perDirectory == 0
}
