package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A memory keeps the messages of a session as they go into requests to one model, in this process
// and in files for the next one: reading and converting them takes ten times as long. It is found
// by the ids of the directories that the messages are in, so whatever changes in the session
// changes what is found. Each file has a block of the session. A file that is missing, damaged or
// of another program is written again, and errors are ignored: nothing depends on the files.
type memory struct {
	key       [sha256.Size]byte // of everything but a message that its form in a request depends on
	origin    provider.Origin
	directory string
	blocks    map[int]*block
}

// A block has blockLeaves leaves.
type block struct {
	leaves  [blockLeaves]knownLeaf
	changed bool // since it was read or written
}

const (
	blockLeaves = 32
	blockWidth  = blockLeaves * snapshot.LeafWidth
	// maxBlock limits the size of a file in bytes. Blocks of longer messages are not kept.
	maxBlock = 64 << 20
)

// A knownLeaf has the messages of a full leaf.
type knownLeaf struct {
	id       string // "" if the leaf is not known
	messages []known
}

// memoriesName is the directory in the state directory that has a directory for each session.
const memoriesName = "chat"

// Forget removes what chats in this repository keep of the texts of sessions, besides the sessions.
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
	// The directory is made only here: once Forget has removed it, a turn that is under way
	// leaves nothing.
	_ = atomicfile.MkdirAll(m.directory, 0o700)
	c.memory = m
	return m
}

// find returns the messages of a leaf, or nil if they are not known.
func (m *memory) find(leaf snapshot.Leaf) []known {
	b, slot := m.at(leaf)
	if b.leaves[slot].id != leaf.ID {
		return nil
	}
	return b.leaves[slot].messages
}

// add keeps the messages of a full leaf.
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

// save writes the blocks that changed. A file need not survive a power failure, so it is not
// synced; its checksum reveals what is left of it.
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
		// Only one process at a time takes turns in a session.
		fresh := filepath.Join(m.directory, "new")
		if os.WriteFile(fresh, data, 0o600) != nil || os.Rename(fresh, m.file(n)) != nil {
			os.Remove(fresh)
			return
		}
	}
}
