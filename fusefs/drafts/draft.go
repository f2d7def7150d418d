package drafts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/domarkx/domarkx"
)

// A State says what a draft waits for.
type State string

// The states of a draft.
const (
	Saved   State = "saved"   // acknowledged, its snapshot is still to be made
	Broken  State = "broken"  // no snapshot can be made of it; its author has to mend it
	Merged  State = "merged"  // in the session, but merged with other changes
	Removed State = "removed" // the session is to be removed
	Beside  State = "beside"  // a file beside sessions that is in none of them; its name is "/" and its path
)

// A Draft is something that was saved and what became of it.
type Draft struct {
	Key     string // names it in its journal; "" for a new one
	Name    string // of the session
	Base    string // the snapshot it was made from, or that was removed; "" for a new session
	After   string // the key of the draft it was made from, where that has no snapshot yet
	Over    string // the key of the draft whose place it takes once it is whole; After is what that one was made from
	AfterIs string // the [Sum] of that draft's Data, by which its snapshot is known when the draft is gone
	State   State
	Problem string // what is wrong with it, for its author; "" when nothing is known to be
	Data    []byte // as it was saved; the reader may keep, but not change it
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

// Sum returns the SHA-256 of what was saved, in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Encode returns a draft as it stands in its file.
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

// Decode reads a draft from its file; its Data is part of file. A file of another
// version is [domarkx.ErrUnsupported], a damaged one [domarkx.ErrCorrupt].
func Decode(file []byte) (Draft, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		if bytes.HasPrefix(file, []byte("domarkx draft ")) {
			return Draft{}, fmt.Errorf("draft of another version: %w", domarkx.ErrUnsupported)
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
		return Draft{}, fmt.Errorf("draft of %q: %w: its bytes are not those that were saved", h.Name, domarkx.ErrCorrupt)
	}
	return Draft{Name: h.Name, Base: h.Base, After: h.After, AfterIs: h.AfterIs, Over: h.Over, State: h.State, Problem: h.Problem, Data: data}, nil
}
