package blame

import (
	"bytes"
	"context"
	"slices"
	"strings"
)

// A Text is the content of a file whose lines are looked up.
type Text struct {
	Path   string // relative to the top of the work tree, with slashes
	Data   []byte
	Ranges []Range // the lines to look up

	Commit string // the commit that contains the text; "" if it is in the work tree or in the index
	Staged bool   // the text is in the index
	Since  string // git blame is asked only about the commits that this commit does not reach; "" for all

	// Blamed is what git blame would say of all lines that no session wrote, if the caller knows that. The text is
	// then the content in that commit, unless its ID is "": the lines are in no commit.
	Blamed *Commit
}

// A Commit is a commit that introduced lines.
type Commit struct {
	ID, Author string
	Date       int64 // Unix seconds
}

// A Range is a range of lines, counted from 1; both ends are included.
type Range struct {
	First int `json:"start_line" doc:"the first line"`
	Last  int `json:"end_line" doc:"the last line"`
}

// Extend adds line n, which comes after all others, to ranges.
func Extend(ranges []Range, n int) []Range {
	if last := len(ranges) - 1; last >= 0 && ranges[last].Last == n-1 {
		ranges[last].Last = n
		return ranges
	}
	return append(ranges, Range{n, n})
}

// Texts looks up lines of many texts. It calls each with the number of a text and the lines of its ranges.
func (m *Manager) Texts(ctx context.Context, texts []Text, each func(int, []Line)) error {
	s, err := m.newSurvey(ctx, true)
	if err != nil {
		return err
	}
	for i, text := range texts {
		lines, err := s.lines(ctx, text)
		if err != nil {
			return err
		}
		each(i, lines)
	}
	return nil
}

func (s *survey) lines(ctx context.Context, text Text) ([]Line, error) {
	past, err := s.history(ctx, text.Path)
	if err != nil {
		return nil, err
	}
	defer clear(s.histories) // they hold all contents of the file
	texts := slices.Collect(bytes.Lines(text.Data))
	t := &trace{s: s, past: past, path: text.Path, found: make([]Origin, len(texts)), known: make([]bool, len(texts))}
	var open []place
	for _, r := range text.Ranges {
		for i := max(r.First, 1) - 1; i < min(r.Last, len(texts)); i++ {
			open = append(open, place{at: i, line: i})
		}
	}
	if err := t.follow(ctx, contentOf(s.m.git.Hash, past.seed, text.Data), len(past.events), open); err != nil {
		return nil, err
	}
	if err := t.ask(ctx, text, open); err != nil {
		return nil, err
	}
	lines := make([]Line, 0, len(open))
	for _, p := range open {
		if !t.known[p.line] {
			t.found[p.line].Message = -1
		}
		lines = append(lines, Line{Number: p.line + 1, Text: strings.TrimSuffix(string(texts[p.line]), "\n"), Origin: t.found[p.line]})
	}
	return lines, nil
}
