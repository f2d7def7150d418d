package gitstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A conversationBuilder puts messages behind those of a conversation tree, or
// makes a new one.
type conversationBuilder struct {
	*builder
	kept int             // messages of the tree that stay
	add  []domarkx.Entry // messages that follow them
}

func (c *conversationBuilder) total() int { return c.kept + len(c.add) }

// node stores the folder of a level whose first message is first. old is that
// folder as it is, when messages of it stay; known are folders in its place in
// other trees.
func (c *conversationBuilder) node(ctx context.Context, level, first int, old odb.ID, known []odb.ID) (odb.ID, error) {
	if level == len(spans)-1 {
		return c.leaf(ctx, first, old, known)
	}
	var entries []odb.TreeEntry
	if !old.IsZero() {
		var err error
		if entries, err = c.reader.folders(level, first, c.kept, old); err != nil {
			return odb.ID{}, err
		}
	}
	knownFolders, err := c.subfolders(known)
	if err != nil {
		return odb.ID{}, err
	}
	span := spans[level]
	for i := range entries {
		if first+(i+1)*span > c.kept { // the last one grows
			entries[i].ID, err = c.node(ctx, level+1, first+i*span, entries[i].ID, nil)
			if err != nil {
				return odb.ID{}, err
			}
		}
	}
	for i := len(entries); (level == 0 || i < nodeWidth) && first+i*span < c.total(); i++ {
		name := folderName(level, i)
		id, err := c.node(ctx, level+1, first+i*span, odb.ID{}, knownFolders[name])
		if err != nil {
			return odb.ID{}, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	}
	return c.makeTree(entries, known...)
}

// subfolders returns the folders of trees by name.
func (c *conversationBuilder) subfolders(trees []odb.ID) (map[string][]odb.ID, error) {
	byName := map[string][]odb.ID{}
	for _, id := range trees {
		entries, err := c.reader.tree(id)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Mode == odb.ModeTree && !slices.Contains(byName[e.Name], e.ID) {
				byName[e.Name] = append(byName[e.Name], e.ID)
			}
		}
	}
	return byName, nil
}

// leaf stores a leaf folder.
func (c *conversationBuilder) leaf(ctx context.Context, first int, old odb.ID, known []odb.ID) (odb.ID, error) {
	var messages []domarkx.Entry
	if !old.IsZero() {
		var err error
		if messages, err = c.reader.leaf(leafOf(first), old); err != nil {
			return odb.ID{}, err
		}
		if len(messages) != c.kept-first {
			return odb.ID{}, fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(leafOf(first)), domarkx.ErrCorrupt, len(messages), c.kept-first)
		}
	}
	from := max(first, c.kept) - c.kept
	fresh := c.add[from:min(len(c.add), first+leafWidth-c.kept)]
	for i := range fresh {
		e := &fresh[i]
		if e.Layout.Verbatim != !e.Source.IsZero() || e.JSON.IsZero() {
			return odb.ID{}, fmt.Errorf("message %s: %w: no content, or author's bytes without being verbatim", e.ID, domarkx.ErrInvalid)
		}
		if err := c.storeBlob(ctx, &e.JSON); err != nil {
			return odb.ID{}, fmt.Errorf("message %s: %w", e.ID, err)
		}
		if e.Layout.Verbatim {
			if err := c.storeBlob(ctx, &e.Source); err != nil {
				return odb.ID{}, fmt.Errorf("message %s: %w", e.ID, err)
			}
		}
	}
	messages = append(messages, fresh...)
	lines, err := encodeEntries(messages)
	if err != nil {
		return odb.ID{}, err
	}
	entries := make([]odb.TreeEntry, 0, 2*len(messages)+1)
	for i, e := range messages {
		if entries, err = file(entries, messageFile(i, e.Role), e.JSON); err != nil {
			return odb.ID{}, err
		}
		if e.Layout.Verbatim {
			if entries, err = file(entries, sourceFile(i), e.Source); err != nil {
				return odb.ID{}, err
			}
		}
	}
	entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: "entries", ID: odb.Sum(odb.Blob, lines)})
	id, err := c.makeTree(entries, known...)
	if err == nil && !slices.Contains(known, id) {
		_, err = c.keep(odb.Blob, lines)
	}
	return id, err
}
