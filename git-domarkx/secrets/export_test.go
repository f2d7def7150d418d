package secrets

import "slices"

// UnpackWithin is [Unpack] with another limit of bytes that are decompressed.
func UnpackWithin(archived int64, container []byte, found func(inside string, part []byte)) error {
	return (&unpacking{left: maxUnpacked, archived: archived, found: found}).unpack(container, "", 0)
}

// A Document is a file of rules.
type Document = document

// BuiltIn returns the rules of gitleaks.
func BuiltIn() *Document { return builtin() }

// OwnPatterns returns the ids of the rules for forms that gitleaks does not know, each once.
func OwnPatterns() (ids []string) {
	for _, p := range ownPatterns {
		if !slices.Contains(ids, p.id) {
			ids = append(ids, p.id)
		}
	}
	return ids
}

// Spelled returns the ids of the rules that find a secret in a text, before overlapping ones are joined.
func Spelled(s *Scanner, text string) (ids []string) {
	for _, m := range s.rules().spelled([]byte(text), strong|weak) {
		ids = append(ids, m.rule)
	}
	return ids
}
