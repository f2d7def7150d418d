package transcript

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// sub adds the records of a sub-agent to its own conversation. The parameters are those of within.
func (x *index) sub(n Note, raw []byte, at jsonlines.Place, start int) error {
	if x.before != nil {
		x.again = true
		return nil
	}
	c := x.subOf(n.Sub)
	if c == nil {
		if !x.tooMany {
			x.Report(0, "has more sub-agents than become sessions; they are kept in the original")
		}
		x.tooMany = true
		return nil
	}
	c.session.Context = n.Context
	items := map[uint64]bool{}
	for _, item := range n.Items {
		c.remember(item, items)
	}
	all := slices.DeleteFunc(slices.Clone(n.Copies), func(item jsonvalue.Value) bool { return c.isCopy(item, items) || c.isCopy(item, c.seen) })
	all = append(all, n.Items...)
	if err := c.inner(all, raw, at, start); err != nil {
		return err
	}
	for _, item := range all {
		c.remember(item, c.seen)
	}
	return nil
}

// subOf returns the index of a sub-agent's conversation; nil if there are too many.
func (x *index) subOf(id string) *index {
	k := slices.IndexFunc(x.subs, func(c *index) bool { return c.session.Sub == id })
	if k >= 0 {
		return x.subs[k]
	}
	if len(x.subs) == maxForks {
		return nil
	}
	c := newIndex(x.agent, format.File{Path: x.path})
	c.Reader, c.seen = x.Reader, map[uint64]bool{}
	c.session = Session{Sub: strings.Clone(id), Memory: Nested}
	x.subs = append(x.subs, c)
	return c
}

// remember adds what identifies a record to a set.
func (x *index) remember(v jsonvalue.Value, set map[uint64]bool) {
	keys, group := x.keysOf(v)
	for _, key := range append(keys, group) {
		set[key] = true
	}
}

// isCopy reports whether a record, or one with the same text, is in a set.
func (x *index) isCopy(v jsonvalue.Value, set map[uint64]bool) bool {
	keys, group := x.keysOf(v)
	return slices.ContainsFunc(keys, func(key uint64) bool { return set[key] }) || len(keys) <= 1 && group != 0 && set[group]
}

// keysOf returns what identifies a record and its parts, which copies of it share. Of the parts of an answer that are
// neither text nor calls, only the group is known; it is 0 for any other record.
func (x *index) keysOf(v jsonvalue.Value) (keys []uint64, group uint64) {
	session := x.session
	n := x.agent.Note(v, &session)
	key := func(kind, name string) uint64 { return maphash.String(x.seed, kind+" "+name) }
	if n.Once != "" {
		keys = append(keys, key("record", n.Once))
	}
	for _, id := range n.Calls {
		keys = append(keys, key("call", id))
	}
	for _, id := range n.Results {
		keys = append(keys, key("result", id))
	}
	if n.Text != "" {
		keys = append(keys, key("text "+n.Group, n.Text))
	}
	if n.Group != "" {
		group = key("group", n.Group)
	}
	return keys, group
}
