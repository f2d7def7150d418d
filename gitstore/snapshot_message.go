package gitstore

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx"
)

// Trailers that only the commit messages of snapshots have.
const (
	trailerMessages = "Domarkx-Messages"
	trailerBytes    = "Domarkx-Bytes"
	trailerPreview  = "Domarkx-Preview"
)

// encodeMessage returns a commit message: the subject, an empty line, the trailers. Texts are JSON
// strings, so that none can forge a trailer.
func encodeMessage(info domarkx.Info) []byte {
	var b bytes.Buffer
	b.WriteString(cleanSubject(info.Subject, info.Operation) + "\n\n")
	trailer(&b, trailerFormat, formatVersion)
	trailer(&b, trailerNumber, strconv.Itoa(info.Number))
	trailer(&b, trailerMessages, strconv.Itoa(info.Messages))
	trailer(&b, trailerBytes, strconv.FormatInt(info.Bytes, 10))
	trailer(&b, trailerPreview, domarkx.StringValue(info.Preview).JSON())
	trailer(&b, trailerOperation, domarkx.StringValue(info.Operation).JSON())
	return b.Bytes()
}

// decodeMessage decodes the commit message of a snapshot. It ignores unknown trailers after the known
// ones.
func decodeMessage(message []byte) (domarkx.Info, error) {
	subject, t, err := decodeTrailers(message, errNoSnapshot)
	if err != nil {
		return domarkx.Info{}, err
	}
	if _, ok := t.values[trailerResources]; ok {
		return domarkx.Info{}, fmt.Errorf("%w: it is a workspace version", errNoSnapshot)
	}
	info := domarkx.Info{Subject: subject, Number: t.sequence(), Messages: int(t.number(trailerMessages)),
		Bytes: t.number(trailerBytes), Preview: t.text(trailerPreview), Operation: t.text(trailerOperation)}
	return info, t.err
}
