package clidoc

import (
	"fmt"
	"strings"
)

// MarkdownName returns the file name of the Markdown page.
func (p *Page) MarkdownName() string { return Dashed(p.Name) + ".md" }

// Markdown returns the page as CommonMark.
func (p *Page) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Made from the command model by go generate. -->\n\n# %s\n\n%s.\n\n```\n%s\n```\n", p.Name, p.Summary, p.Usage)
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.title)
		for _, c := range g.commands {
			fmt.Fprintf(&b, "- [`%s`](git-domarkx-%s.md): %s\n", c.Term, Dashed(c.Term), lowerFirst(c.Text))
		}
	}
	for i, bl := range p.Body {
		if !(i > 0 && bl.kind == listItem && p.Body[i-1].kind == listItem) {
			b.WriteByte('\n')
		}
		switch bl.kind {
		case heading:
			fmt.Fprintf(&b, "## %s\n", bl.text)
		case literal:
			fence := "```"
			for strings.Contains(bl.text, fence) {
				fence += "`"
			}
			fmt.Fprintf(&b, "%s\n%s\n%[1]s\n", fence, bl.text)
		case listItem:
			fmt.Fprintf(&b, "- %s\n", bl.text)
		default:
			fmt.Fprintf(&b, "%s\n", bl.text)
		}
	}
	for _, section := range p.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", section.title)
		for _, it := range section.commands {
			fmt.Fprintf(&b, "- `%s`: %s\n", it.Term, it.Text)
		}
	}
	return b.String()
}

// FieldPage returns one page that lists the JSON fields of all commands.
func FieldPage(pages []*Page) string {
	var b strings.Builder
	b.WriteString(`<!-- Made from the command model by go generate. -->

# Fields of results as JSON

With --json a command prints an array of objects, or one object where it has one result.
Times are in ISO 8601, UTC, or null; object ids are complete. Members may be added; none is removed or changes its
meaning without a note in CHANGELOG.md.

These names mean the same everywhere:

- ` + "`session`: the name of a session\n- `oid`: a commit, such as a snapshot\n" +
		"- `message`: the id of a message, which it keeps when others are added or removed before it, and in forks and merges\n" +
		"- `index`: its K, as in NAME#K; only `call.index` is the number of a call in its message\n")
	for _, p := range pages {
		if len(p.fields) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## [%s](%s)\n\n| member | holds |\n|---|---|\n", p.Name, p.MarkdownName())
		for _, f := range p.fields {
			fmt.Fprintf(&b, "| `%s` | %s |\n", f.Term, f.Text)
		}
	}
	return b.String()
}
