package clidoc_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// TestExpect checks what the last word of command lines can be. Words are separated by one blank.
func TestExpect(t *testing.T) {
	for line, want := range map[string]struct {
		of    clidoc.Expectation
		words string // the candidates
	}{
		"":                    {clidoc.Expectation{Kind: clidoc.ValueWord}, "copy restore box guide"},
		"co":                  {clidoc.Expectation{Kind: clidoc.ValueWord, Typed: "co"}, "copy restore box guide"},
		"internal ":           {clidoc.Expectation{}, ""},
		"none ":               {clidoc.Expectation{}, ""},
		"none -":              {clidoc.Expectation{}, ""},
		"-":                   {clidoc.Expectation{Kind: clidoc.ValueWord, Typed: "-"}, "--quiet --when --no-progress"},
		"-q --no-progress co": {clidoc.Expectation{Kind: clidoc.ValueWord, Typed: "co"}, "copy restore box guide"},
		"--when ":             {clidoc.Expectation{Kind: clidoc.ValueWord}, "auto never"},
		"--when=n":            {clidoc.Expectation{Kind: clidoc.ValueWord, Prefix: "--when=", Typed: "n"}, "auto never"},
		"--when n copy -":     {clidoc.Expectation{Kind: clidoc.ValueWord, Typed: "-"}, "--json --team --format --output --into --links --quiet --when --no-progress"},
		"--none=x":            {clidoc.Expectation{}, ""},
		"--none x":            {clidoc.Expectation{Kind: clidoc.ValueWord, Typed: "x"}, "copy restore box guide"},
		"copy ":               {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy a ":             {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "a"}, ""},
		"copy a b c":          {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "b", Typed: "c"}, ""},
		"copy --team ":        {clidoc.Expectation{}, ""},
		"copy --team t ":      {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy --team=t a ":    {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "a"}, ""},
		"copy --json ":        {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy --links ":       {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy -o ":            {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy -o x ":          {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy -ox ":           {clidoc.Expectation{Kind: clidoc.ValueFile}, ""},
		"copy -ox a ":         {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "a"}, ""},
		"copy -qo x a ":       {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "a"}, ""},
		"copy -qz a ":         {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "a"}, ""},
		"copy --into d":       {clidoc.Expectation{Kind: clidoc.ValueDirectory, Typed: "d"}, ""},
		"copy --output=x/":    {clidoc.Expectation{Kind: clidoc.ValueFile, Prefix: "--output=", Typed: "x/"}, ""},
		"copy - ":             {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "-"}, ""},
		"copy -- -a":          {clidoc.Expectation{Kind: clidoc.ValueFile, Typed: "-a"}, ""},
		"copy -- -a -- ":      {clidoc.Expectation{Kind: clidoc.ValueSession, Before: "--"}, ""},
		"restore ":            {clidoc.Expectation{Kind: clidoc.ValueRemoved}, ""},
		"restore a ":          {clidoc.Expectation{Kind: clidoc.ValueRemoved, Before: "a"}, ""},
		"box ":                {clidoc.Expectation{Kind: clidoc.ValueWord}, "open close"},
		"box none ":           {clidoc.Expectation{}, ""},
		"box open ":           {clidoc.Expectation{Kind: clidoc.ValueWorkspace}, ""},
		"box open w ":         {clidoc.Expectation{Kind: clidoc.ValueResource, Before: "w"}, ""},
		"box open w r ":       {clidoc.Expectation{Before: "r"}, ""},
		"box open w r t ":     {clidoc.Expectation{Before: "t"}, ""},
		"box close ":          {clidoc.Expectation{Kind: clidoc.ValueWord}, "bash fish"},
		"guide ":              {clidoc.Expectation{Kind: clidoc.ValueWord}, "copy restore box guide"},
		"guide box ":          {clidoc.Expectation{Kind: clidoc.ValueWord, Before: "box"}, "open close"},
		"guide box open ":     {clidoc.Expectation{Kind: clidoc.ValueWord, Before: "open"}, ""},
		"guide none ":         {clidoc.Expectation{Before: "none"}, ""},
	} {
		t.Run(line, func(t *testing.T) {
			got := clidoc.Expect(model(t), strings.Split(line, " "))
			var words []string
			for _, c := range got.Words {
				if words = append(words, c.Word); strings.HasSuffix(c.About, ".") {
					t.Errorf("%s: the description %q ends with a full stop", c.Word, c.About)
				}
			}
			if strings.Join(words, " ") != want.words {
				t.Errorf("the words are %q, expected %q", words, want.words)
			}
			if got.Kind != want.of.Kind || got.Prefix != want.of.Prefix || got.Typed != want.of.Typed || got.Before != want.of.Before {
				t.Errorf("got %+v, expected %+v", got, want.of)
			}
		})
	}
}

func TestExpectFormat(t *testing.T) {
	got := clidoc.Expect(model(t), []string{"copy", "--format", ""})
	var words []string
	for _, c := range got.Words {
		words = append(words, c.Word)
	}
	if want := strings.Join(append(clidoc.FormatNames(), "table"), " "); strings.Join(words, " ") != want || !strings.Contains(want, "claude-code") {
		t.Errorf("got %q, expected %q", words, want)
	}
}
