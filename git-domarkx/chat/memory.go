package chat

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A memory keeps the messages of a session in the form in which they are sent to one model, so that only the first turn
// of a process reads and converts all of them. It is keyed by the ids of the trees that contain the messages, so a
// change to a message changes its key.
type memory struct {
	key    string             // the session, model and tools, on which the form depends
	leaves map[string][]known // id of a full leaf → its messages
}

// remember returns the memory of a session for a model.
func (c *Chat) remember(session string, o provider.Origin, tools toolTable) *memory {
	key := fmt.Sprintf("%q %q", session, []string{o.Provider, o.Host, o.Model})
	for i, offer := range tools.offers {
		key += fmt.Sprintf(" %q", []string{offer.Resource, offer.Name, tools.names[i]})
	}
	if c.memory == nil || c.memory.key != key {
		c.memory = &memory{key, map[string][]known{}}
	}
	return c.memory
}

// find returns the messages of a leaf, or nil if they are not kept.
func (m *memory) find(leaf snapshot.Leaf) []known { return m.leaves[leaf.ID] }

// add keeps the messages of a full leaf.
func (m *memory) add(leaf snapshot.Leaf, messages []known) { m.leaves[leaf.ID] = messages }
