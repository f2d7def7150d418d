package drafts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	Key     string `json:"-"`                      // identifies the draft; "" for a new one
	Name    string `json:"name"`                   // of the session
	Base    string `json:"base,omitempty"`         // the snapshot that it was made from or that was removed; "" for a new session
	After   string `json:"after,omitempty"`        // key of the draft that it was made from, if that was not a snapshot yet
	AfterIs string `json:"after_sha256,omitempty"` // [Sum] of the Data of After; it identifies the snapshot that After became, once After is deleted
	Over    string `json:"over,omitempty"`         // key of the draft that it replaces once it is complete; After is then what both were made from
	State   State  `json:"state"`
	Problem string `json:"problem,omitempty"` // message for its author, or ""
	Data    []byte `json:"-"`                 // saved bytes; readers may keep but not change them
}

const magic = "domarkx draft 1\n"

// A header is the second line of a draft's file.
type header struct {
	Draft
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Sum returns the SHA-256 of saved bytes in hexadecimal.
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Encode returns the content of a draft's file.
func Encode(d Draft) ([]byte, error) {
	line, err := json.Marshal(header{d, len(d.Data), Sum(d.Data)})
	if err != nil {
		return nil, fmt.Errorf("encoding the draft of %q: %w", d.Name, err)
	}
	return slices.Concat([]byte(magic), line, []byte("\n"), d.Data), nil
}

// Decode parses the content of a draft's file; the draft's Data is a part of it. It
// returns [domarkx.ErrUnsupported] for another format version and [domarkx.ErrCorrupt]
// for a damaged file.
func Decode(file []byte) (Draft, error) {
	rest := bytes.NewBuffer(file)
	h, err := readHeader(rest)
	if err != nil {
		return Draft{}, err
	}
	if h.Data = rest.Bytes(); h.Bytes != len(h.Data) || h.SHA256 != Sum(h.Data) {
		return Draft{}, fmt.Errorf("draft of %q: %w: its bytes differ from those that were saved", h.Name, domarkx.ErrCorrupt)
	}
	return h.Draft, nil
}

// readHeader reads what precedes the saved bytes.
func readHeader(r interface{ ReadString(byte) (string, error) }) (h header, err error) {
	first, _ := r.ReadString('\n')
	switch {
	case first == magic:
	case strings.HasPrefix(first, "domarkx draft "):
		return h, fmt.Errorf("draft of another format version: %w", domarkx.ErrUnsupported)
	default:
		return h, fmt.Errorf("draft without its first line: %w", domarkx.ErrCorrupt)
	}
	line, err := r.ReadString('\n')
	if err != nil {
		return h, fmt.Errorf("draft without its header: %w", domarkx.ErrCorrupt)
	}
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		return h, fmt.Errorf("header of a draft: %w: %w", domarkx.ErrCorrupt, err)
	}
	if !slices.Contains([]State{Saved, Broken, Merged, Removed, Beside}, h.State) {
		return h, fmt.Errorf("draft in the state %q: %w", h.State, domarkx.ErrUnsupported)
	}
	return h, nil
}
