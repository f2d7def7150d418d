package codec

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// ErrNoSnapshot is the error for a commit that is not a snapshot. It is a [domarkx.ErrCorrupt].
var ErrNoSnapshot = fmt.Errorf("%w: no session snapshot", domarkx.ErrCorrupt)

// Trailers that only the commit messages of snapshots have.
const (
	trailerMessages = "Domarkx-Messages"
	trailerBytes    = "Domarkx-Bytes"
	trailerPreview  = "Domarkx-Preview"
)

// EncodeMessage returns a commit message: the subject, an empty line, the trailers. Texts are JSON
// strings, so that none can forge a trailer.
func EncodeMessage(info domarkx.Info) []byte {
	var b bytes.Buffer
	b.WriteString(CleanSubject(info.Subject, info.Operation) + "\n\n")
	trailer(&b, trailerFormat, formatVersion)
	trailer(&b, trailerNumber, strconv.Itoa(info.Number))
	trailer(&b, trailerMessages, strconv.Itoa(info.Messages))
	trailer(&b, trailerBytes, strconv.FormatInt(info.Bytes, 10))
	trailer(&b, trailerPreview, jsonvalue.StringValue(info.Preview).JSON())
	trailer(&b, trailerOperation, jsonvalue.StringValue(info.Operation).JSON())
	replaces(&b, info.Replacement)
	sameTexts(&b, info.Replacement)
	return b.Bytes()
}

// DecodeMessage decodes the commit message of a snapshot. It ignores unknown trailers after the known
// ones.
func DecodeMessage(message []byte) (domarkx.Info, error) {
	subject, t, err := decodeTrailers(message, ErrNoSnapshot)
	if err != nil {
		return domarkx.Info{}, err
	}
	if _, ok := t.values[TrailerResources]; ok {
		return domarkx.Info{}, fmt.Errorf("%w: it is a workspace version", ErrNoSnapshot)
	}
	info := domarkx.Info{Subject: subject, Number: t.sequence(), Messages: int(t.number(trailerMessages)),
		Bytes: t.number(trailerBytes), Preview: t.text(trailerPreview), Operation: t.text(trailerOperation), Replacement: t.replacement()}
	return info, t.err
}
