package dirversion

// DecodeAgain decodes the records of a directory, and encodes and decodes those again.
func DecodeAgain(b []byte) (again, ok bool) {
	records, err := decodeRecords(string(b))
	if err != nil {
		return false, false
	}
	second, err := decodeRecords(string(encodeRecords(nil, records)))
	return err == nil && len(second) == len(records), true
}

// SetSame lets the file system of a directory be one that does not tell cases, or forms of
// Unicode, apart.
func (f *Directory) SetSame(cases, forms bool) { f.same = &fsFolding{cases, forms} }
