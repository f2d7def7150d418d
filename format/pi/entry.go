package pi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// A place is a position in the file: a line, or one of the objects on it.
type place struct {
	start  int64  // of the line
	size   uint32 // of the line
	number int32  // of the line, from 1
	broken bool   // not an object; kept as text
}

// A node is an entry of the tree. A file can be far larger than memory and has a node for each
// line, so a node stores nothing that can be read from the line again.
type node struct {
	start   int64 // as in place
	size    uint32
	number  int32
	above   int32  // the parent's index, -1 for none
	calls   uint32 // index in lines.calls: the first call of an assistant's message, or the call of a result
	broken  bool   // as in place
	kind    kind
	naming  bool // it gives the session a name
	unnamed bool // it has no id of its own
	parent  bool // another entry follows it
	seen    bool // it is in a conversation
	shared  bool // it is in several
}

func (n *node) place() place { return place{n.start, n.size, n.number, n.broken} }

// A beside is a line without a place in the tree: behind a node, or before all.
type beside struct {
	place
	node  int32 // -1 before all
	piece int   // as in lines.pieces
}

// A sharedLine is a line of several objects.
type sharedLine struct {
	start   int64
	objects []domarkx.Value
}

// A key represents an id. A short id, like all that pi generates, is its own key.
type key [16]byte

func keyOf(id string) key {
	var k key
	if len(id) < len(k) {
		copy(k[:], id)
		k[len(k)-1] = byte(len(id))
		return k
	}
	sum := sha256.Sum256([]byte(id))
	copy(k[:], sum[:])
	k[len(k)-1] = 0xff
	return k
}

// migrate gives an entry of version 1 the ids of later versions. before is the id of the entry
// before it, and said lists the ids of all readable entries before it.
func migrate(v domarkx.Value, raw []byte, at place, before string, said []string) domarkx.Value {
	if transcript.Text(v, keyID) == "" {
		v = withID(v, raw, at)
	}
	parent := domarkx.Value{}
	if before != "" {
		parent = transcript.Str(before)
	}
	v = v.With(keyParentID, parent)
	if index, ok := v.Get(keyFirstKeptIndex); ok && transcript.Text(v, keyType) == typeCompaction && !transcript.Has(v, keyFirstKept) {
		if i, err := strconv.Atoi(index.Text()); err == nil && i > 0 && i < len(said) {
			v = v.Without(keyFirstKeptIndex).With(keyFirstKept, transcript.Str(said[i]))
		}
	}
	return v
}

// withID gives an entry without an id one that derives from its position and content.
func withID(v domarkx.Value, raw []byte, at place) domarkx.Value {
	sum := sha256.New()
	fmt.Fprintf(sum, "pi entry %d\n", at.number)
	sum.Write(bytes.TrimSpace(raw))
	return v.With(keyID, transcript.Str(hex.EncodeToString(sum.Sum(nil)[:4])))
}

// errChanged reports that a line has changed since it was first read.
var errChanged = fmt.Errorf("%w: the file changed while it was read; import it again", domarkx.ErrInvalid)

// callsOf returns the keys of the calls of a node.
func (l *lines) callsOf(i int32) []uint64 {
	end := len(l.calls)
	if int(i)+1 < len(l.nodes) {
		end = int(l.nodes[i+1].calls)
	}
	return l.calls[l.nodes[i].calls:end]
}

// at reads the content of a place: an object, or a string if it is damaged.
func (l *lines) at(p place, piece int) (domarkx.Value, []byte, error) {
	raw, err := l.window.Bytes(p.start, int64(p.size))
	if err != nil {
		return domarkx.Value{}, nil, l.failed(err)
	}
	if p.broken {
		return asText(raw), raw, nil
	}
	if piece > 0 {
		if l.shared == nil || l.shared.start != p.start {
			objects, _ := split(raw)
			l.shared = &sharedLine{p.start, objects}
		}
		if piece <= len(l.shared.objects) {
			return l.shared.objects[piece-1], raw, nil
		}
		return domarkx.Value{}, nil, l.failed(errChanged)
	}
	v, err := domarkx.ParseValue(raw)
	if err != nil || v.Kind() != domarkx.Object {
		return domarkx.Value{}, nil, l.failed(errChanged)
	}
	return v, raw, nil
}

// entry returns the entry of a node, a string when that is broken.
func (l *lines) entry(i int32) (domarkx.Value, error) {
	if int(i) < len(l.kept) {
		return l.kept[i], nil
	}
	n := &l.nodes[i]
	v, raw, err := l.at(n.place(), l.pieces[i])
	switch {
	case err != nil || n.broken:
		return v, err
	case l.version == 1:
		before := ""
		if i > 0 {
			before = l.said[l.nth[i-1]]
		}
		v = migrate(v, raw, n.place(), before, l.said[:l.nth[i]])
	case n.unnamed:
		v = withID(v, raw, n.place())
	}
	if kindOf(v) != n.kind {
		return v, l.failed(errChanged)
	}
	return v, nil
}

// names returns the id of a node and the id of its parent.
func (l *lines) names(i int32) (id, parent string, err error) {
	v, err := l.entry(i)
	if n := l.nodes[i]; err == nil && n.broken {
		var raw []byte
		if raw, err = l.window.Bytes(n.start, int64(n.size)); err == nil {
			v, _ = domarkx.ParsePartial(bytes.Trim(raw, " \t\r\x00"))
		}
	}
	return transcript.Text(v, keyID), transcript.Text(v, keyParentID), err
}
