package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A memory caches the messages of a session in the form in which they are sent to one model,
// because reading and converting them takes ten times as long. It consists of memory for this
// process and of files for the next one. The cache is keyed by the ids of the directories that
// contain the messages, so a change to a message changes its key. Files that are missing, damaged
// or of another version are written again. Errors are ignored, because nothing depends on the
// files.
type memory struct {
	key       [sha256.Size]byte // digest of the version, session, model and tools, on which the cached form depends
	origin    provider.Origin
	directory string
	blocks    map[int]*block
}

// A block is the part of the cache that one file holds.
type block struct {
	leaves  [blockLeaves]knownLeaf
	changed bool // since the file was read or written
}

const (
	blockLeaves = 32
	blockWidth  = blockLeaves * snapshot.LeafWidth
	// maxBlock is the maximum size of a file in bytes. Larger blocks are not written.
	maxBlock = 64 << 20
)

// A knownLeaf holds the messages of a full leaf.
type knownLeaf struct {
	id       string // "" if the leaf is not cached
	messages []known
}

// memoriesName is the directory below the state directory with a directory for each session.
const memoriesName = "chat"

// Forget removes the cached texts of sessions from the state directory of a repository.
func Forget(stateDir string) error { return os.RemoveAll(filepath.Join(stateDir, memoriesName)) }

func (c *Chat) remember(session string, o provider.Origin, tools toolTable) *memory {
	name := sha256.Sum256([]byte(session))
	m := &memory{origin: o, blocks: map[int]*block{}, directory: filepath.Join(c.stateDir, memoriesName, hex.EncodeToString(name[:16]))}
	key := encoder{}
	for _, s := range []string{c.version, session, o.Provider, o.Host, o.Model} {
		key.string(s)
	}
	for i, offer := range tools.offers {
		key.string(offer.Resource)
		key.string(offer.Name)
		key.string(tools.names[i])
	}
	m.key = sha256.Sum256(key.data)
	if c.memory != nil && c.memory.key == m.key {
		return c.memory
	}
	// Create the directory only here: after Forget has removed it, a running turn must not write
	// files again.
	_ = atomicfile.MkdirAll(m.directory, 0o700)
	c.memory = m
	return m
}

// find returns the cached messages of a leaf, or nil if there are none.
func (m *memory) find(leaf snapshot.Leaf) []known {
	b, slot := m.at(leaf)
	if b.leaves[slot].id != leaf.ID {
		return nil
	}
	return b.leaves[slot].messages
}

// add caches the messages of a full leaf.
func (m *memory) add(leaf snapshot.Leaf, messages []known) {
	b, slot := m.at(leaf)
	b.leaves[slot] = knownLeaf{leaf.ID, messages}
	b.changed = true
}

func (m *memory) at(leaf snapshot.Leaf) (b *block, slot int) {
	n := leaf.First / blockWidth
	b = m.blocks[n]
	if b == nil {
		b = &block{}
		if data, err := os.ReadFile(m.file(n)); err == nil {
			_ = b.decode(data, m.key, m.origin)
		}
		m.blocks[n] = b
	}
	return b, leaf.First % blockWidth / snapshot.LeafWidth
}

func (m *memory) file(n int) string { return filepath.Join(m.directory, strconv.Itoa(n)) }

// save writes the changed blocks. It does not sync them: after a power failure, the checksum
// detects a damaged file.
func (m *memory) save() {
	if m == nil {
		return
	}
	for n, b := range m.blocks {
		if !b.changed {
			continue
		}
		b.changed = false
		data := b.encode(m.key)
		if len(data) > maxBlock {
			continue
		}
		// Only one process at a time runs a turn of a session.
		fresh := filepath.Join(m.directory, "new")
		if os.WriteFile(fresh, data, 0o600) != nil || os.Rename(fresh, m.file(n)) != nil {
			os.Remove(fresh)
			return
		}
	}
}
