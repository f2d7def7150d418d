package sessions

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// IsScratch reports whether editors use such a name for temporary files, which disappear
// with the mount.
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

// keepFile stores the content of a file that belongs to no session as a draft, under the
// file's current name. It deletes the draft of a file that no longer has a durable name:
// it lost its name, is scratch now, or belongs to a session.
func (t *Tree) keepFile(f *File) error {
	if t.Saver == nil {
		return nil
	}
	t.keeping.Lock()
	defer t.keeping.Unlock()
	var d drafts.Draft
	drop := ""
	err := t.fetched(t.ctx, f, func(st *state) (ready bool, err error) {
		ready = true
		p := st.keptPath(f)
		switch {
		case p == "":
			if drop = f.draft; drop != "" && f.name == "" && f.kept == nil {
				f.dirty = true // if the file gets a durable name again, its draft must be written again
			}
			f.draft, f.draftPath = "", ""
		case !f.dirty && (f.draft == "" || f.draftPath == p):
		default:
			if ready, err = f.load(); !ready || err != nil {
				break
			}
			d = drafts.Draft{Key: f.draft, Name: "/" + p, State: drafts.Beside} // no session can have that name
			d.Data, err = f.data.Bytes()
			f.dirty = err != nil
		}
		return ready, err
	})
	switch {
	case drop != "":
		return t.Journal.Delete(drop)
	case err != nil || d.Name == "":
		return err
	}
	key, err := t.Journal.Put(d)
	t.state.Do(func(st *state) {
		if err != nil {
			f.dirty = true
			return
		}
		f.draft, f.draftPath = key, strings.TrimPrefix(d.Name, "/")
		st.attachSoon()
	})
	return err
}

// isDurable reports whether the journal stores the content of a file, which then must fit
// in memory.
func (st *state) isDurable(f *File) bool { return f.name != "" || st.keptPath(f) != "" }

// keptPath returns the path under which a file that belongs to no session is stored as a
// draft, or "" if it is not stored.
func (st *state) keptPath(f *File) string {
	if f.name != "" || f.link || f.kept != nil {
		return ""
	}
	found := ""
	for p, other := range st.files {
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

// adoptFile restores a file from its draft. If its path is in use, it appends a number.
func (st *state) adoptFile(d drafts.Draft) {
	p := strings.TrimPrefix(d.Name, "/")
	for n := 2; st.files[p] != nil || p == ""; n++ {
		p = fmt.Sprintf("%s.%d", strings.TrimPrefix(d.Name, "/"), n)
	}
	f := st.newFile(p, 0o644)
	f.data, f.draft, f.draftPath = content.Of(d.Data), d.Key, strings.TrimPrefix(d.Name, "/")
	st.bind(p, f)
}

// Drafts returns the paths of the files that are drafts because no session has attached
// them, sorted.
func (t *Tree) Drafts() []string {
	var paths []string
	t.state.Do(func(st *state) {
		for p, f := range st.files {
			if f.draft != "" && !IsScratch(p) {
				paths = append(paths, p)
			}
		}
	})
	slices.Sort(paths)
	return paths
}

// DraftProblem is the text in errors/ for a file that no session has attached.
const DraftProblem = "No session has attached this file. It stays on this machine, and the next mount shows it again. " +
	"An image is attached once a session shows it as ![...](path). To attach another file, use git domarkx import --attach."
