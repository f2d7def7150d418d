package dirversion

import "context"

// DecodeAgain decodes the records of a directory, encodes the result and decodes that again.
func DecodeAgain(b []byte) (again, ok bool) {
	records, err := decodeRecords(string(b))
	if err != nil {
		return false, false
	}
	second, err := decodeRecords(encodeRecords(records))
	return err == nil && len(second) == len(records), true
}

// SetSame makes the package treat names of a directory as equal that differ only in case or in
// their Unicode normalization.
func (f *Directory) SetSame(cases, forms bool) { f.same = &fsFolding{cases, forms} }

// SetPlain makes loads behave as on a file system that cannot exchange files.
func (f *Directory) SetPlain() { f.observe.plain = true }

// Recover completes a load that was killed.
func (f *Directory) Recover(ctx context.Context) error { return f.recover(ctx) }
