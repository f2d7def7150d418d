package secrets

// UnpackWithin is [Unpack] with another limit of bytes that are decompressed.
func UnpackWithin(archived int64, container []byte, found func(inside string, part []byte)) error {
	return (&unpacking{left: maxUnpacked, archived: archived, found: found}).unpack(container, "", 0)
}
