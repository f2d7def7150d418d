package review

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// authors finds out who wrote the added lines of each hunk, and counts them.
func (m *Manager) authors(ctx context.Context, c compared, r *Review, contents []sides) error {
	log, err := m.commits(ctx, c)
	if err != nil {
		return err
	}
	var asked []int
	var texts []blame.Text
	for i := range r.Files {
		f := &r.Files[i]
		text := blame.Text{Path: f.new, Data: contents[i].new, Staged: c.to == Index, Since: c.since}
		if c.to != Index && c.to != WorkTree {
			text.Commit = c.to
		}
		for k := range f.Hunks {
			text.Ranges = append(text.Ranges, added(&f.Hunks[k])...)
		}
		text.Blamed = log.only(f.new)
		if r.Recorded && len(text.Ranges) > 0 && text.Data != nil && !f.Submodule {
			asked, texts = append(asked, i), append(texts, text)
			continue
		}
		f.attribute(nil)
	}
	err = m.blame().Texts(ctx, texts, func(i int, lines []blame.Line) { r.Files[asked[i]].attribute(lines) })
	for _, f := range r.Files {
		r.Lines.add(f.Lines)
	}
	return err
}

func (m *Manager) blame() *blame.Manager { return blame.New(m.Store, m.Git, m.State) }

// added returns the lines of the new file that a hunk adds.
func added(h *Hunk) (ranges []blame.Range) {
	n := h.newStart
	for _, line := range h.Lines {
		switch sign(line) {
		case '+':
			ranges = blame.Extend(ranges, n)
			n++
		case ' ':
			n++
		}
	}
	return ranges
}

// attribute sets the authors of a file's hunks and counts its lines. A line that is not in lines as it is in the diff,
// because the file was changed meanwhile, is nobody's.
func (f *File) attribute(lines []blame.Line) {
	for i := range f.Hunks {
		h := &f.Hunks[i]
		n := h.newStart
		for _, line := range h.Lines {
			switch sign(line) {
			case '-':
				if !f.Submodule {
					f.Lines.Removed++
				}
			case ' ':
				n++
			case '+':
				origin := blame.Origin{Source: blame.Unclear, Message: -1}
				if len(lines) > 0 && lines[0].Number == n {
					if strings.TrimSuffix(lines[0].Text, "\r") == strings.TrimSuffix(line[1:], "\r") { // Git may convert line ends
						origin = lines[0].Origin
					}
					lines = lines[1:]
				}
				if !f.Submodule {
					f.Lines.count(h.credit(origin, n))
				}
				n++
			}
		}
	}
}

// credit adds line n of the new file to those of its author, and returns the source.
func (h *Hunk) credit(o blame.Origin, n int) string {
	a := authorOf(o)
	i := slices.IndexFunc(h.Authors, func(b Author) bool {
		return b.from.Source == o.Source && b.Session == a.Session && b.from.ID == o.ID && b.from.Message == o.Message && b.Model == a.Model && b.Commit == a.Commit
	})
	if i < 0 {
		i = len(h.Authors)
		h.Authors = append(h.Authors, a)
	}
	h.Authors[i].Lines++
	h.Authors[i].Ranges = blame.Extend(h.Authors[i].Ranges, n)
	return a.Source
}

func authorOf(o blame.Origin) Author {
	a := Author{Source: Unknown, Date: dateOf(o.Date), from: o}
	switch o.Source {
	case blame.Session:
		a.Source, a.Session, a.Model = Model, o.Session, o.Model
		if !o.ID.IsZero() {
			a.Message = o.ID.String()
			a.MessageID = a.Message
		}
		if o.Message >= 0 {
			a.Index = &o.Message
		}
	case blame.Person:
		a.Source, a.Commit, a.Name = Person, o.Commit, o.Author
	}
	return a
}

// dateOf returns a time as RFC 3339, or "" for 0.
func dateOf(unix int64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(time.RFC3339)
}
