package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// A Living is a file of a commit with lines of a message.
type Living struct {
	Path  string
	Lines []blame.Line // masked
}

// maxLiving is the maximum number of files that are searched for the lines of a message.
const maxLiving = 500

// Living returns the lines of message k of a session that are in the commit of HEAD. It finds those in the files that
// the message's turn changed, under the names that they had then.
func (m *Manager) Living(ctx context.Context, session string, k int) ([]Living, error) {
	tip, err := m.Store.Tip(ctx, session)
	if err != nil {
		return nil, err
	}
	state, err := m.Store.Load(ctx, tip.ID)
	if err != nil {
		return nil, err
	}
	entries := state.Thread.Live
	if k < 0 || k >= len(entries) {
		return nil, fmt.Errorf("message %d of %q: %w", k, session, domarkx.ErrNotFound)
	}
	head := m.find(ctx, "HEAD")
	if head == "" {
		return nil, nil
	}
	paths, err := m.changedBy(ctx, entries, k)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	texts, err := m.texts(ctx, head, paths)
	if err != nil {
		return nil, err
	}
	mask, err := m.newMask(ctx)
	if err != nil {
		return nil, err
	}
	all := []Living{}
	err = m.blame().Texts(ctx, texts, func(i int, lines []blame.Line) {
		text := texts[i]
		secret := mask.content(text.Path, text.Data)
		var own []blame.Line
		for _, line := range lines {
			if line.Source == blame.Session && line.Session == session && line.ID == entries[k].ID {
				line.Text = secret.line(line.Number, line.Text)
				own = append(own, line)
			}
		}
		if len(own) > 0 {
			all = append(all, Living{mask.text(text.Path), own})
		}
	})
	return all, err
}

// changedBy returns the files of the work tree that changed between the versions linked before and after message k.
func (m *Manager) changedBy(ctx context.Context, entries []domarkx.Entry, k int) ([]string, error) {
	before, after := "", ""
	first := k
	for first > 0 && entries[first-1].Role == domarkx.Assistant { // calls of one turn can share a version
		first--
	}
	for _, e := range entries[:first] {
		before = cmp.Or(e.Link, before)
	}
	for _, e := range entries[k:] {
		if e.Link != before {
			after = cmp.Or(after, e.Link)
		}
	}
	if after == "" {
		return nil, nil
	}
	now, err := m.Store.VersionOrStub(ctx, after)
	if err != nil || now.Expired != nil {
		return nil, err
	}
	was := domarkx.Version{}
	if before == "" && len(now.Parents) > 0 {
		before = now.Parents[0]
	}
	if before != "" {
		if was, err = m.Store.VersionOrStub(ctx, before); was.Expired != nil || err != nil && !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone
			return nil, err
		}
	}
	var paths []string
	for _, r := range now.Resources {
		old := ""
		if i := slices.IndexFunc(was.Resources, func(w domarkx.ResourceVersion) bool { return w.ID == r.ID }); i >= 0 {
			old = was.Resources[i].Version
		}
		top := ""
		if place, ok := r.Config.Get("path"); ok && place.Text() != "." {
			top = strings.TrimSuffix(strings.TrimPrefix(place.Text(), "./"), "/") + "/"
		}
		err := m.Store.DiffVersions(ctx, old, r.Version, func(at string, _, y *domarkx.File) error {
			if y != nil && y.Type == domarkx.Regular && len(paths) < maxLiving {
				paths = append(paths, top+at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (m *Manager) texts(ctx context.Context, commit string, paths []string) ([]blame.Text, error) {
	out, err := m.Git.Run(ctx, nil, append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit, "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	var files []File
	for entry := range strings.SplitSeq(string(out), "\x00") { // MODE SP TYPE SP ID TAB PATH
		about, path, ok := strings.Cut(entry, "\t")
		if fields := strings.Fields(about); ok && len(fields) == 3 && fields[1] == "blob" {
			files = append(files, File{Path: path, newID: fields[2], Hunks: []Hunk{{}}})
		}
	}
	contents, err := m.contents(ctx, compared{to: commit}, files)
	if err != nil {
		return nil, err
	}
	var texts []blame.Text
	for i, f := range files {
		if contents[i].new != nil {
			texts = append(texts, blame.Text{Path: f.Path, Data: contents[i].new, Ranges: []blame.Range{{First: 1, Last: len(contents[i].new) + 1}}, Commit: commit})
		}
	}
	return texts, nil
}
