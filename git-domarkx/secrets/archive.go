package secrets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A file in an archive is read in pieces of maxMember bytes that have memberOverlap bytes in common.
const (
	maxMember     = 64 << 20
	memberOverlap = 64 << 10
)

// An archive is a format of files that contain other files, usually compressed. Files that cannot be read, such as
// encrypted ones, are left out and not reported, because many of them are harmless.
type archive struct {
	name string
	is   func(head []byte) bool
	read func(content []byte, found func(name string, part io.Reader) error) error
}

var archives = []archive{
	{"gzip", begins("\x1f\x8b\x08"), func(content []byte, found func(string, io.Reader) error) error {
		r, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return err
		}
		return found(r.Name+"\n"+r.Comment, r)
	}},
	{"bzip2", begins("BZh"), func(content []byte, found func(string, io.Reader) error) error {
		return found("", bzip2.NewReader(bytes.NewReader(content)))
	}},
	{"zstd", begins("\x28\xb5\x2f\xfd"), func(content []byte, found func(string, io.Reader) error) error {
		r, err := zstd.NewReader(bytes.NewReader(content), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMember))
		if err != nil {
			return err
		}
		defer r.Close()
		return found("", r)
	}},
	{"zip", begins("PK\x03\x04"), readZip},
	{"tar", func(head []byte) bool { return len(head) >= 512 && string(head[257:262]) == "ustar" }, readTar},
	{"PDF", begins("%PDF-"), readPDF},
}

func begins(with string) func([]byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(with)) }
}

// archiveOf returns the format of an archive that begins with head, or nil.
func archiveOf(head []byte) *archive {
	for i := range archives {
		if archives[i].is(head) {
			return &archives[i]
		}
	}
	return nil
}

func readZip(content []byte, found func(string, io.Reader) error) error {
	r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	if r.Comment != "" {
		if err := found("", bytes.NewReader([]byte(r.Comment))); err != nil {
			return err
		}
	}
	for _, f := range r.File {
		part, err := f.Open()
		if err != nil {
			continue
		}
		err = found(f.Name+"\n"+f.Comment, part)
		if err = errors.Join(err, part.Close()); errors.Is(err, domarkx.ErrUnsupported) {
			return err
		}
	}
	return nil
}

func readTar(content []byte, found func(string, io.Reader) error) error {
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if err != nil {
			return err
		}
		name := h.Name + "\n" + h.Linkname
		for key, value := range h.PAXRecords {
			name += "\n" + key + "=" + value
		}
		if err := found(name, r); err != nil {
			return err
		}
	}
}

// readPDF reads the file itself, and its streams that are compressed with FlateDecode (ISO 32000-1, 7.4.4). The text on a page
// is in strings in parentheses; a word can be split over several.
func readPDF(content []byte, found func(string, io.Reader) error) error {
	if err := found("", bytes.NewReader(append([]byte(" "), content...))); err != nil { // no longer a PDF
		return err
	}
	for rest := content; ; {
		i := bytes.Index(rest, []byte("stream"))
		if i < 0 {
			return nil
		}
		rest = bytes.TrimLeft(rest[i+len("stream"):], "\r\n")
		r, err := zlib.NewReader(bytes.NewReader(rest))
		if err != nil {
			continue
		}
		data, _ := io.ReadAll(io.LimitReader(r, maxMember)) //nolint:errcheck // what came before the damage counts
		if err := found("", bytes.NewReader(data)); err != nil {
			return err
		}
		if err := found("", bytes.NewReader(shownText(data))); err != nil {
			return err
		}
	}
}

// shownText returns the strings in parentheses of a content stream of a PDF, joined within each line.
func shownText(stream []byte) []byte {
	var text []byte
	inside := false
	for i := 0; i < len(stream); i++ {
		switch c := stream[i]; {
		case inside && c == '\\' && i+1 < len(stream):
			i++
			text = append(text, stream[i])
		case inside && c == ')', !inside && c == '(':
			inside = !inside
		case inside || c == '\n':
			text = append(text, c)
		}
	}
	return text
}

// archive calls found for the names and contents of the files in an archive, and unpacks containers in them.
func (u *unpacking) archive(a *archive, content []byte, inside string, depth int) error {
	if inside != "" {
		inside += ", "
	}
	err := a.read(content, func(about string, part io.Reader) error {
		place := inside + a.name
		if name, _, _ := strings.Cut(about, "\n"); name != "" {
			place += " file " + name
		}
		u.found(place, []byte(about))
		return u.member(place, part, depth)
	})
	if errors.Is(err, domarkx.ErrUnsupported) {
		return err
	}
	return nil // the rest is damaged
}

// member calls found for the content of a file in an archive, in overlapping pieces if it is large.
func (u *unpacking) member(place string, part io.Reader, depth int) error {
	piece := make([]byte, 0, 64<<10)
	for first := true; ; first = false {
		if u.archived <= 0 {
			return u.tooLarge()
		}
		before, limit := len(piece), min(maxMember, u.archived)
		rest, err := io.ReadAll(io.LimitReader(part, limit))
		piece = append(piece, rest...)
		u.archived -= int64(len(rest)) + 512
		last := int64(len(rest)) < limit || err != nil
		switch {
		case len(piece) == before && !first:
			return nil
		case first && last && IsContainer(piece):
			return u.unpack(piece, place, depth+1)
		}
		u.found(place, piece)
		if last {
			return nil // the end, or the rest is damaged
		}
		piece = append(piece[:0], piece[max(0, len(piece)-memberOverlap):]...)
	}
}
