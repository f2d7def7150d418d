package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/domarkx/domarkx/format/domarkx"
)

// TestAbout checks the description of a session: what its front matter and its messages say, and nothing that could be mistaken
// for it.
func TestAbout(t *testing.T) {
	c := newClone(t)
	transcript := func(title string) string { return "---\ntitle: \"" + title + "\"\nagent: codex\n---\n\n" }
	for text, want := range map[string]domarkx.About{
		"":                                     {},
		"# Heading\n":                          {},
		"---\ntitle: A title\n---\n":           {Title: "A title"},
		"---\ntitle: /clear\n---\n":            {Title: "/clear"}, // a person's
		"---\ntitle: 7\n---\n":                 {},
		"---\ntitle: [a]\n---\n\n## user\n\nb": {Title: "b"},
		"---\ntags: [a, b, 7]\ngit_branches: [main, next]\n---\n":                              {Tags: []string{"a", "b"}, Branch: "next"},
		"---\ntags: a,b c\ngit_branches: main\n---\n":                                          {Tags: []string{"a", "b", "c"}},
		"## assistant\n\nHello\n":                                                              {},
		"## user\n\n/clear\n\n## assistant\n\nNo\n\n## user\n\nFix the\nlogin\n":               {Title: "Fix the login"},
		"## user\n\n" + strings.Repeat("long ", 1<<21):                                         {Title: strings.TrimSpace(strings.Repeat("long ", 16)[:79]) + "…"},
		transcript("/clear") + "## user\n\n/clear\n\n## user\n\nFix it\n":                      {Title: "Fix it", Agent: "codex"},
		transcript("/clear") + "## user\n\n/clear\n":                                           {Agent: "codex"},
		transcript("Implement the following plan: # Do it") + "## user\n\n# Do it\n":           {Title: "Do it", Agent: "codex"},
		transcript("Given by the agent") + "## user\n\nOther\n":                                {Title: "Given by the agent", Agent: "codex"},
		transcript("\\u001b[2Jgone\\nnext"):                                                    {Title: "gone next", Agent: "codex"},
		transcript("") + strings.Repeat("## user\n\n/clear\n\n", 21) + "## user\n\nToo late\n": {Agent: "codex"},
	} {
		c.Saved("s", "", text)
		tip := c.WithAbout(t.Context(), c.Tip("s"))
		if diff := cmp.Diff(want, tip.Described(), cmpopts.IgnoreFields(domarkx.About{}, "Started", "Active")); diff != "" {
			t.Errorf("%.100q (-want +got):\n%s", text, diff)
		}
		if about := tip.Described(); about.Active != tip.Date || about.Started != tip.Date {
			t.Errorf("%.100q: active at %d, since %d, want %d", text, about.Active, about.Started, tip.Date)
		}
		c.clear("s")
	}
	missing := domarkx.Info{ID: strings.Repeat("1", 40), Date: 7}
	if got := c.WithAbout(t.Context(), missing); got.About != nil || got.Described().Active != 7 {
		t.Errorf("of nothing: %+v", got)
	}
}
