package transcript

import (
	"bytes"
	"hash/fnv"
	"slices"
)

// A growth records what reading additions to a file needs, and finds out whether it suffices.
type growth struct {
	before     *state          // of the file before it grew; nil for a whole file
	again      bool            // additions change earlier messages: the whole file must be read again
	closed     bool            // an answer without a group is no longer added to a message from before
	keys       []byte          // see state.Keys
	unanswered map[string]bool // ids of calls without a result
}

// keySize is the number of bytes of a key in [state.Keys]. It is a multiple of three, so that each
// key has its own characters in Base64.
const keySize = 3

// keyOf returns a short digest of a name. It is the same in all processes.
func keyOf(kind, name string) []byte {
	h := fnv.New64a()
	h.Write([]byte(kind + "\x00" + name))
	return h.Sum(nil)[:keySize]
}

// note records that a name occurred, for additions to the file.
func (g *growth) note(kind, name string) { g.keys = append(g.keys, keyOf(kind, name)...) }

// known reports whether a name may have occurred before the file grew.
func (g *growth) known(kind, name string) bool {
	return g.before != nil && hasKey(g.before.Keys, kind, name)
}

// hasKey reports whether keys has the key of a name.
func hasKey(keys []byte, kind, name string) bool {
	key := keyOf(kind, name)
	for k := range slices.Chunk(keys, keySize) {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}
