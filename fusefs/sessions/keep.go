package sessions

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/drafts"
)

// IsScratch reports whether the name is one that editors use for temporary files. The
// mount does not keep these files.
func IsScratch(p string) bool {
	base := path.Base(p)
	if hidden(p) || base == "4913" || strings.HasSuffix(base, "~") || len(base) > 1 && base[0] == '#' && base[len(base)-1] == '#' {
		return true
	}
	switch path.Ext(base) {
	case ".swp", ".tmp", ".bak":
		return true
	}
	return false
}

// draftName returns the name of a file in the journal. No session can have it.
func draftName(p string) string { return "/" + p }

// keepFile makes the content of a file that belongs to no session durable, under its
// current name. It deletes the draft of a file that has lost its name or now is scratch or
// a session's.
func (t *Tree) keepFile(f *File) error {
	if t.Saver == nil {
		return nil
	}
	t.keeping.Lock()
	defer t.keeping.Unlock()
	t.mu.Lock()
	p := t.keptPath(f)
	switch {
	case p == "" && f.draft == "", p != "" && (f.data == nil || !f.dirty && (f.draft == "" || f.draftPath == p)):
		t.mu.Unlock()
		return nil
	case p == "":
		key := f.draft
		f.draft, f.draftPath = "", ""
		if f.name == "" && f.kept == nil {
			f.dirty = true // a name that is kept may come back, and the journal has the content no more
		}
		t.mu.Unlock()
		return t.Journal.Delete(key)
	}
	data, err := f.data.bytes()
	key := f.draft
	f.dirty = false
	t.mu.Unlock()
	if err == nil {
		key, err = t.Journal.Put(drafts.Draft{Key: key, Name: draftName(p), State: drafts.Beside, Data: data})
	}
	t.mu.Lock()
	if err != nil {
		f.dirty = true
		t.mu.Unlock()
		return err
	}
	f.draft, f.draftPath = key, p
	t.attachSoon()
	t.mu.Unlock()
	return nil
}

// isDurable reports whether the content of a file goes to the journal, which holds it in
// one piece.
func (t *Tree) isDurable(f *File) bool { return f.name != "" || t.keptPath(f) != "" }

// keptPath returns the path for the draft of a file, or "" if it has none.
func (t *Tree) keptPath(f *File) string {
	if f.name != "" || f.link || f.kept != nil {
		return ""
	}
	found := ""
	for p, other := range t.files {
		if other == f && !IsScratch(p) && (found == "" || p < found) {
			found = p
		}
	}
	return found
}

// keepFiles calls keepFile for each file that is not nil.
func (t *Tree) keepFiles(files ...*File) error {
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := t.keepFile(f); err != nil {
			return err
		}
	}
	return nil
}

// adoptFile restores the draft of a file. It appends a number to a path that is in use.
func (t *Tree) adoptFile(d drafts.Draft) {
	p := strings.TrimPrefix(d.Name, "/")
	for n := 2; t.files[p] != nil || p == ""; n++ {
		p = fmt.Sprintf("%s.%d", strings.TrimPrefix(d.Name, "/"), n)
	}
	f := t.newFile(p, 0o644)
	f.data, f.draft, f.draftPath = contentOf(d.Data), d.Key, strings.TrimPrefix(d.Name, "/")
	t.bind(p, f)
}

// Drafts returns the paths of the files that no session has, sorted.
func (t *Tree) Drafts() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var paths []string
	for p, f := range t.files {
		if f.draft != "" && !IsScratch(p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// DraftProblem explains in errors/ what happens to a file that no session has.
const DraftProblem = "This file is in no session. It stays on this machine, and comes back with the next mount. " +
	"An image is kept once a session beside it shows it, as ![...](path); any other file with git domarkx import --attach."
