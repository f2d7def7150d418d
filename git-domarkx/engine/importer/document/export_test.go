package document

// SealOf returns the seal of a document that is read in parts, under a key.
func SealOf(key []byte, parts ...[]byte) ([32]byte, error) {
	s, err := newSealer(key)
	if err != nil {
		return [32]byte{}, err
	}
	for _, part := range parts {
		s.write(part)
	}
	return s.sum(), nil
}
