package review_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
)

// made returns a review with texts that try to be more than texts.
func made() *review.Review {
	two, zero, failed := 2, 0, 1
	hostile := "</code></details><script>alert(1)</script> `` @everyone #1 [x](javascript:alert(1)) | \x1b[31m \u202e"
	return &review.Review{
		Range: "main...feature", From: "1111", To: "2222", Remote: "origin", Recorded: true,
		Lines:  review.Lines{Added: 4, Removed: 1, Model: 2, Person: 1, Unknown: 1},
		Models: []review.Share{{Model: "claude-opus", Lines: 2}},
		Sessions: []review.Session{{Name: "claude-code/x", Agent: "claude-code", Lines: 2, Prompts: []review.Prompt{
			{Index: 0, Date: "2026-11-27T10:00:00Z", Text: "Write it\n\n# " + hostile, Lines: 2, Commands: []review.Command{
				{Index: 1, Text: "make\ntest", Exit: &failed, Status: "failed"}, {Index: 2, Text: "make `x`", Exit: &zero, Status: "ok"}, {Index: 3, Text: "sleep", Status: "no result"}}},
		}}},
		Files: []review.File{
			{Path: "a " + hostile, Status: "modified", Lines: review.Lines{Added: 4, Removed: 1, Model: 2, Person: 1, Unknown: 1}, Header: []string{"diff --git a/a b/a"}, Hunks: []review.Hunk{{
				Header: "@@ -1,2 +1,5 @@", Lines: []string{" one", "-```", "+````", "+<script>", "+by hand", "+\x1b[2Jcontrol \u202e"}, Authors: []review.Author{
					{Source: review.Model, Session: "claude-code/x", Index: &two, Agent: "claude-code", Model: "claude-opus", Date: "2026-11-27T10:01:00Z", Asked: review.Asked{Prompt: "Write it # " + hostile}, Lines: 2},
					{Source: review.Person, Commit: "33333333333333", Name: hostile, Lines: 1}, {Source: review.Unknown, Lines: 1}}}}},
			{Path: "picture.png", Status: "added", Binary: true},
			{Path: "new", OldPath: "old", Status: "renamed", Hunks: []review.Hunk{{Header: "@@ -1 +0,0 @@", Lines: []string{"-x"}}}},
		},
	}
}

// TestMarkdown compares a review with its golden file.
func TestMarkdown(t *testing.T) {
	formattest.Golden(t, "testdata/review.md", review.Markdown(made()))
}

// TestMarkdownIsShort checks that a review of any size fits into a comment, says that it was shortened, and still has all
// that it has room for.
func TestMarkdownIsShort(t *testing.T) {
	hunk := func(lines int, line string) review.Hunk {
		return review.Hunk{Header: "@@ -1 +1 @@", Lines: strings.Split(strings.Repeat("+"+line+"\n", lines)+"+end", "\n")}
	}
	many := func(n int, h review.Hunk) (files []review.File) {
		for i := range n {
			files = append(files, review.File{Path: fmt.Sprintf("file%d", i), Hunks: []review.Hunk{h}})
		}
		return files
	}
	long := &review.Review{Range: "r", Sessions: []review.Session{{Name: "s", Prompts: []review.Prompt{{Text: strings.Repeat("word ", 1<<20), Commands: []review.Command{{Text: strings.Repeat("x", 2<<20)}}}}}}}
	for name, c := range map[string]struct {
		least int
		r     *review.Review
	}{
		"300 files":      {20_000, &review.Review{Range: "r", Files: many(300, hunk(70, "a line of a file"))}},
		"20,000 files":   {20_000, &review.Review{Range: "r", Files: many(20_000, hunk(3, "x"))}},
		"one long line":  {4000, &review.Review{Range: "r", Files: many(1, hunk(1, strings.Repeat("ä", 2<<20)))}},
		"long lines":     {20_000, &review.Review{Range: "r", Files: many(200, hunk(100, strings.Repeat("long", 2000)))}},
		"a long prompt":  {2000, long},
		"a large hunk":   {20_000, &review.Review{Range: "r", Files: many(1, hunk(50_000, "ö"))}},
		"large sessions": {20_000, &review.Review{Range: "r", Sessions: []review.Session{{Name: "s", Prompts: make([]review.Prompt, 20_000)}}}},
	} {
		got := review.Markdown(c.r)
		n := utf8.RuneCountInString(got)
		if n > review.MaxMarkdown || n < c.least || !strings.Contains(got, "Shortened to fit") {
			t.Errorf("%s: %d characters: %.200s", name, n, got)
		}
	}
	if got := review.Markdown(made()); strings.Contains(got, "Shortened") {
		t.Error(got)
	}
}

// TestHTML checks that nothing of a session or a file becomes part of the page.
func TestHTML(t *testing.T) {
	page := string(review.HTML(made()))
	for _, bad := range []string{"<script", "\x1b", "\u202e"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"default-src &#39;none&#39;", "&lt;script&gt;alert(1)", "claude-code/x#2 · claude-code claude-opus · 2026-11-27 10:01 · 2 lines · Write it", "a person (", "unknown · 1 line", "exit 1", "4 lines added", "Not on origin", "only removes lines", "added, binary", "before: old"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}
