package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets/gitobjects"
)

// MaxContainer is the largest size in bytes of a container that is unpacked.
const MaxContainer = 256 << 20

// Limits for unpacking a container, with all containers in it.
const (
	maxUnpacked = 8 << 30 // size in bytes of what is decompressed of Git objects
	maxArchived = 1 << 30 // size in bytes of what is decompressed of archives
	maxNesting  = 4       // number of containers inside of each other
)

// NotReadable is the rule of a finding that is not a secret, but a container whose content could not be
// read, or not all of it.
const NotReadable = "not-readable"

// IsContainer reports whether a file that begins with head holds parts in an encoding of its own, such
// as Git objects or the files of an archive. Such a file can only be searched as a whole, and secrets
// cannot be replaced in it.
func IsContainer(head []byte) bool { return gitobjects.Recognized(head) || archiveOf(head) != nil }

// Unpack calls found for each part of a container. It unpacks containers in it, too. inside describes
// the part, whose content is valid until found returns. The error matches [domarkx.ErrCorrupt] or
// [domarkx.ErrUnsupported] if not everything could be read; what could be was found nevertheless.
func Unpack(container []byte, found func(inside string, part []byte)) error {
	return (&unpacking{left: maxUnpacked, archived: maxArchived, found: found}).unpack(container, "", 0)
}

// An unpacking is the state of unpacking a container.
type unpacking struct {
	left     int64 // bytes of Git objects that may still be decompressed
	archived int64 // bytes of archives that may still be decompressed
	found    func(inside string, part []byte)
}

func (u *unpacking) unpack(container []byte, inside string, depth int) error {
	if depth == maxNesting || len(container) > MaxContainer {
		return u.tooLarge()
	}
	if a := archiveOf(container); a != nil && !gitobjects.Recognized(container) {
		return u.archive(a, container, inside, depth)
	}
	var failed error
	err := gitobjects.Read(container, &u.left, func(o gitobjects.Object) {
		place := o.String()
		if inside != "" {
			place = inside + ", " + place
		}
		if !IsContainer(o.Content) {
			u.found(place, o.Content)
		} else if err := u.unpack(o.Content, place, depth+1); err != nil && failed == nil {
			failed = err
		}
	})
	if err == nil {
		err = failed
	}
	return err
}

func (u *unpacking) tooLarge() error {
	return fmt.Errorf("container: %w: too large, or in too many others", domarkx.ErrUnsupported)
}

// container returns the secrets in a container, each once, for the first part that has it.
func (s *Scanner) container(content []byte) []Finding {
	var found []Finding
	seen := map[string]bool{}
	err := Unpack(content, func(inside string, part []byte) {
		for _, f := range s.File("", part) {
			if !seen[f.Fingerprint] {
				seen[f.Fingerprint] = true
				f.Start, f.End, f.Inside = 0, 0, inside
				found = append(found, f)
			}
		}
	})
	if err != nil {
		found = append(found, s.Unread(sha256.Sum256(content)))
	}
	return found
}

// Unread returns the finding for a container that could not be read, or not all of it, with the digest
// of its content.
func (s *Scanner) Unread(digest [sha256.Size]byte) Finding {
	return Finding{Rule: NotReadable, Inside: "not all of its content can be read", Fingerprint: Fingerprint(s.key, []byte(NotReadable+" "+hex.EncodeToString(digest[:]))), Masked: "****"}
}
