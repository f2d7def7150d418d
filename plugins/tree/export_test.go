package tree

// DecodeAgain decodes the records of a folder, and encodes and decodes those again.
func DecodeAgain(b []byte) (again, ok bool) {
	records, err := decodeRecords(b)
	if err != nil {
		return false, false
	}
	second, err := decodeRecords(encodeRecords(nil, records))
	return err == nil && len(second) == len(records), true
}
