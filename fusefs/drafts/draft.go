package drafts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A State is the reason why a draft is kept.
type State string

// The states of a draft.
const (
	Saved   State = "saved"   // acknowledged, without a snapshot yet
	Broken  State = "broken"  // cannot become a snapshot until its author fixes it
	Merged  State = "merged"  // in the session, but merged with other changes
	Removed State = "removed" // the session is to be removed
	Beside  State = "beside"  // a file below sessions/ that no session has attached; its Name is "/" and its path
)

// A Draft is a save, a removal or a file that is not in a snapshot yet.
type Draft struct {
	Key     string // identifies the draft; "" for a new one
	Name    string // of the session
	Base    string // the snapshot that it was made from or that was removed; "" for a new session
	After   string // key of the draft that it was made from, if that was not a snapshot yet
	Over    string // key of the draft that it replaces once it is complete; After is then what both were made from
	AfterIs string // [Sum] of the Data of After; it identifies the snapshot that After became, once After is deleted
	State   State
	Problem string // message for its author, or ""
	Data    []byte // saved bytes; readers may keep but not change them
}

const magic = "domarkx draft 1\n"

type header struct {
	Name    string `json:"name"`
	Base    string `json:"base,omitempty"`
	After   string `json:"after,omitempty"`
	AfterIs string `json:"after_sha256,omitempty"`
	Over    string `json:"over,omitempty"`
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// Sum returns the SHA-256 of saved bytes in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Encode returns the content of a draft's file.
func Encode(d Draft) ([]byte, error) {
	line, err := json.Marshal(header{d.Name, d.Base, d.After, d.AfterIs, d.Over, d.State, d.Problem, len(d.Data), Sum(d.Data)})
	if err != nil {
		return nil, fmt.Errorf("encoding the draft of %q: %w", d.Name, err)
	}
	var b bytes.Buffer
	b.Grow(len(magic) + len(line) + 1 + len(d.Data))
	b.WriteString(magic)
	b.Write(line)
	b.WriteByte('\n')
	b.Write(d.Data)
	return b.Bytes(), nil
}

// Decode parses the content of a draft's file; the draft's Data is a part of it. It
// returns [domarkx.ErrUnsupported] for another format version and [domarkx.ErrCorrupt]
// for a damaged file.
func Decode(file []byte) (Draft, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		if bytes.HasPrefix(file, []byte("domarkx draft ")) {
			return Draft{}, fmt.Errorf("draft of another format version: %w", domarkx.ErrUnsupported)
		}
		return Draft{}, fmt.Errorf("draft without its first line: %w", domarkx.ErrCorrupt)
	}
	line, data, ok := bytes.Cut(rest, []byte("\n"))
	if !ok {
		return Draft{}, fmt.Errorf("draft without its header: %w", domarkx.ErrCorrupt)
	}
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return Draft{}, fmt.Errorf("header of a draft: %w: %w", domarkx.ErrCorrupt, err)
	}
	switch h.State {
	case Saved, Broken, Merged, Removed, Beside:
	default:
		return Draft{}, fmt.Errorf("draft in the state %q: %w", h.State, domarkx.ErrUnsupported)
	}
	if h.Bytes != len(data) || h.SHA256 != Sum(data) {
		return Draft{}, fmt.Errorf("draft of %q: %w: its bytes differ from those that were saved", h.Name, domarkx.ErrCorrupt)
	}
	return Draft{Name: h.Name, Base: h.Base, After: h.After, AfterIs: h.AfterIs, Over: h.Over, State: h.State, Problem: h.Problem, Data: data}, nil
}
