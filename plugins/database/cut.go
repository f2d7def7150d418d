package database

import "hash/fnv"

// How the rows of a table become files: cut where a row's own digest says so, so
// that a row that is inserted moves no others to another file.
const (
	perFile      = 8 << 10   // bytes, on average
	perDirectory = 64        // files, on average
	maxFile      = 256 << 10 // bytes, but for a longer row
	oneFile      = 64 << 10  // bytes of rows that stay in one file
)

// cut reports whether a file of so many bytes ends with a row, and a directory of files.
func cut(row []byte, size int) (file, directory bool) {
	h := fnv.New64a()
	h.Write(row)
	d := h.Sum64()
	// FNV's low bits hardly depend on the last bytes; this spreads them.
	d ^= d >> 33
	d *= 0xff51afd7ed558ccd
	d ^= d >> 33
	file = d%perFile < uint64(len(row)) || size >= maxFile
	return file, file && d>>32%perDirectory == 0
}
