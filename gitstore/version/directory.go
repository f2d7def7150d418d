package version

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// entryMode returns the mode of a file's tree entry, or 0 for a FIFO or device, which has no entry.
func (c *child) entryMode() uint32 {
	switch {
	case c.Type == domarkx.Directory:
		return odb.ModeTree
	case c.Type == domarkx.Symlink && !c.plain:
		return odb.ModeSymlink
	case c.Type == domarkx.Symlink || c.Type == domarkx.Regular && c.Mode&0o100 == 0:
		return odb.ModeFile
	case c.Type == domarkx.Regular:
		return odb.ModeExecutable
	}
	return 0
}

func compareChildren(a, b child) int { return strings.Compare(a.Name, b.Name) }

// directoryEntries returns the tree entries of a directory in Git's order. children must be sorted by name. sidecar is the
// id of the sidecar, or zero if the directory has none.
func directoryEntries(children []child, sidecar odb.ID) []odb.TreeEntry {
	entries := make([]odb.TreeEntry, 0, len(children)+1)
	if !sidecar.IsZero() {
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: sidecarName, ID: sidecar})
	}
	for i := range children {
		c := &children[i]
		mode := c.entryMode()
		if mode == 0 {
			continue
		}
		entries = append(entries, odb.TreeEntry{Mode: mode, Name: treeName(c.Name, mode == odb.ModeSymlink), ID: c.object})
		if !c.chunks.IsZero() {
			entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: chunksPrefix + escapeName(c.Name), ID: c.chunks})
		}
	}
	slices.SortFunc(entries, odb.CompareEntries)
	return entries
}

// sidecarOf returns the id of a directory's sidecar, or zero if the directory has none.
func sidecarOf(entries []odb.TreeEntry) (odb.ID, error) {
	e := odb.FindEntry(entries, sidecarName)
	if e.Name != "" && e.Mode != odb.ModeFile {
		return odb.ID{}, fmt.Errorf("%s: %w: mode %o", sidecarName, domarkx.ErrCorrupt, e.Mode)
	}
	return e.ID, nil
}

// decodeDirectory returns the files of a directory, sorted by name. self has the directory's own attributes if the sidecar
// contains them, which only that of a top directory does; otherwise it is nil. data is the sidecar, or nil if there is none.
// decodeDirectory returns [domarkx.ErrCorrupt] if this program would encode the directory differently.
func decodeDirectory(entries []odb.TreeEntry, data []byte) (self *domarkx.File, children []child, err error) {
	children, chunks, err := decodeChildren(entries)
	if err != nil {
		return nil, nil, err
	}
	s := &sidecar{defaults: defaults{modes: classModes}}
	if data != nil {
		if s, err = decodeSidecar(data); err != nil {
			return nil, nil, err
		}
	}
	if children, err = s.fill(children); err != nil {
		return nil, nil, err
	}
	for _, e := range chunks {
		name, err := unescapeName(strings.TrimPrefix(e.Name, chunksPrefix))
		if err != nil {
			return nil, nil, err
		}
		c, ok := findChild(children, name)
		if !ok || c.Type != domarkx.Regular || !e.IsTree() {
			return nil, nil, fmt.Errorf("entry %q: %w: it does not belong to a file", e.Name, domarkx.ErrCorrupt)
		}
		c.chunks = e.ID
	}
	if s.self != nil {
		self = &domarkx.File{Type: domarkx.Directory}
		s.self.apply(self, &defaults{modes: classModes})
	}
	if data == nil && len(children) > 0 {
		return nil, children, nil
	}
	if !bytes.Equal(encodeSidecar(self, children), data) {
		return nil, nil, fmt.Errorf("%s: %w: it differs from the one that its directory requires", sidecarName, domarkx.ErrCorrupt)
	}
	return self, children, nil
}

// decodeChildren returns the files that tree entries represent, sorted by name, and the entries of chunk trees.
func decodeChildren(entries []odb.TreeEntry) (children []child, chunks []odb.TreeEntry, err error) {
	children = make([]child, 0, len(entries))
	for i, e := range entries {
		if i > 0 && odb.CompareEntries(entries[i-1], e) >= 0 {
			return nil, nil, fmt.Errorf("entry %q: %w: it is not in Git's order", e.Name, domarkx.ErrCorrupt)
		}
		name := e.Name
		if strings.HasPrefix(name, sidecarName) {
			if name == sidecarName {
				continue
			}
			if strings.HasPrefix(name, chunksPrefix) {
				chunks = append(chunks, e)
				continue
			}
			if name, err = unescapeName(strings.TrimPrefix(name, hiddenPrefix)); err != nil {
				return nil, nil, err
			}
		}
		if treeName(name, e.Mode == odb.ModeSymlink) != e.Name || len(name) > maxName {
			return nil, nil, fmt.Errorf("entry %q: %w: invalid name", e.Name, domarkx.ErrCorrupt)
		}
		c := child{File: domarkx.File{Name: name, Type: domarkx.Regular}, object: e.ID}
		switch e.Mode {
		case odb.ModeFile:
		case odb.ModeExecutable:
			c.Mode = modeExec
		case odb.ModeSymlink:
			c.Type = domarkx.Symlink
		case odb.ModeTree:
			c.Type = domarkx.Directory
		default:
			return nil, nil, fmt.Errorf("entry %q: %w: mode %o", e.Name, domarkx.ErrCorrupt, e.Mode)
		}
		children = append(children, c)
	}
	slices.SortFunc(children, compareChildren)
	for i := 1; i < len(children); i++ {
		if children[i].Name == children[i-1].Name {
			return nil, nil, fmt.Errorf("entry %q: %w: duplicate name", children[i].Name, domarkx.ErrCorrupt)
		}
	}
	return children, chunks, nil
}

// fill sets the attributes of files from the sidecar, and adds the FIFOs and devices, which have no tree entries. It may
// reuse the memory of children.
func (s *sidecar) fill(children []child) ([]child, error) {
	all := children
	if extra := slices.ContainsFunc(s.rows, func(r row) bool { return r.kind > domarkx.Symlink }); extra {
		all = make([]child, 0, len(children)+len(s.rows))
	} else {
		all = all[:0] // without added files, each element is read before it is overwritten
	}
	rows := s.rows
	for i := 0; i < len(children) || len(rows) > 0; {
		var r *row
		var c child
		switch {
		case len(rows) == 0 || i < len(children) && children[i].Name < rows[0].name:
			c = children[i]
			i++
		case i < len(children) && children[i].Name == rows[0].name:
			c, r = children[i], &rows[0]
			i, rows = i+1, rows[1:]
			c.plain = r.kind == domarkx.Symlink && c.Type == domarkx.Regular && c.Mode == 0
			if r.kind != 0 && !c.plain {
				return nil, fmt.Errorf("%s: %w: the type of %q", sidecarName, domarkx.ErrCorrupt, r.name)
			}
			if c.plain {
				c.Type = domarkx.Symlink
			}
		default:
			r = &rows[0]
			rows = rows[1:]
			if r.kind <= domarkx.Symlink {
				return nil, fmt.Errorf("%s: %w: %q has no entry", sidecarName, domarkx.ErrCorrupt, r.name)
			}
			c = child{File: domarkx.File{Name: r.name, Type: r.kind}}
		}
		mode := c.entryMode()
		r.apply(&c.File, &s.defaults)
		if c.entryMode() != mode || c.HardLink != "" && c.Type == domarkx.Directory {
			return nil, fmt.Errorf("%s: %w: the mode or link of %q", sidecarName, domarkx.ErrCorrupt, c.Name)
		}
		all = append(all, c)
	}
	return all, nil
}
