package pi

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// Place returns the path that pi gives a transcript below the folder of its sessions:
// --CWD--/TIME_ID.jsonl. Further attempts have a number behind the id.
func Place(f format.File, attempt int) (format.Place, error) {
	line, _, err := format.NewWindow(f).Line(0)
	if err != nil {
		return format.Place{}, err
	}
	header := firstObject(line)
	if !isHeader(header) {
		return format.Place{}, fmt.Errorf("a transcript of pi: %w: its first line is no header", domarkx.ErrInvalid)
	}
	id := text(header, keyID)
	name := strings.NewReplacer(":", "-", ".", "-").Replace(text(header, keyTimestamp)) + "_" + id
	if attempt > 0 {
		name += fmt.Sprintf("-%d", attempt+1)
	}
	const longest = 200 // of a file's name, without the extension
	folder, name := component(folderName(text(header, keyCwd)), longest), component(name, longest)
	return format.Place{Path: folder + "/" + name + ".jsonl", ID: id}, nil
}

// component is text as one component of a path, no longer than that.
func component(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	for len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	if strings.Trim(s, ".") == "" {
		return "_" + s
	}
	return s
}
