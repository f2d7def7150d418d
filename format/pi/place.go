package pi

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/transcript"
)

// Place returns the path that pi would choose for a transcript below its session directory:
// --CWD--/TIME_ID.jsonl. Further attempts append a number to the id.
func Place(f format.File, attempt int) (format.Place, error) {
	line, _, err := format.NewWindow(f).Line(0)
	if err != nil {
		return format.Place{}, err
	}
	header := jsonlines.First(line)
	if !isHeader(header) {
		return format.Place{}, fmt.Errorf("a transcript of pi: %w: its first line is not a header", domarkx.ErrInvalid)
	}
	id := transcript.Text(header, keyID)
	name := baseName(header)
	if attempt > 0 {
		name += fmt.Sprintf("-%d", attempt+1)
	}
	directory, name := transcript.FileName(directoryName(transcript.Text(header, keyCwd))), transcript.FileName(name)
	return format.Place{Path: directory + "/" + name + ".jsonl", ID: identity(id)}, nil
}

// baseName is what pi calls the file of a transcript with that header, without the extension.
func baseName(header domarkx.Value) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(transcript.Text(header, keyTimestamp)) + "_" + transcript.Text(header, keyID)
}

// fileName is what pi calls the file of a transcript with that header.
func fileName(header domarkx.Value) string { return transcript.FileName(baseName(header)) + ".jsonl" }
