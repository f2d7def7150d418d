package review

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/html"
)

// MaxMarkdown is the maximum length of a review in Markdown, in characters. Hosts accept a little more in a comment.
const MaxMarkdown = 60_000

// Markdown returns a review as a comment for a pull request (GitHub Flavored Markdown). Hunks are folded. If it would be longer than
// [MaxMarkdown], every hunk, prompt and list is shortened to the same length, and the text says so.
func Markdown(r *Review) string {
	most := maxText / charactersPer
	for _, f := range r.Files {
		for _, h := range f.Hunks {
			most = max(most, len(h.Lines))
		}
	}
	for _, s := range r.Sessions {
		most = max(most, len(s.Prompts))
		for _, p := range s.Prompts {
			most = max(most, len(p.Commands))
		}
	}
	most = max(most, len(r.Sessions), len(r.Models))
	render := func(lines, files int) string {
		w := markdownWriter{limit: lines, files: files}
		w.review(r)
		return w.text()
	}
	fits := func(lines, files int) bool { return utf8.RuneCountInString(render(lines, files)) <= MaxMarkdown }
	all := len(r.Files)
	switch {
	case fits(most, all):
		return render(most, all)
	case fits(0, all): // every file is there
		return render(sort.Search(most, func(n int) bool { return !fits(n, all) })-1, all)
	}
	return render(0, max(0, sort.Search(all, func(n int) bool { return !fits(0, n) })-1))
}

// Texts are shortened to so many characters for each line of a hunk, and always to maxText.
const charactersPer, maxText = 20, 4000

// hunksPer is the number of hunks of a file that are shown for each line of a hunk.
const hunksPer = 10

// A markdownWriter writes a review. limit is the length of every hunk and of lists, and files that of the list of files.
type markdownWriter struct {
	bytes.Buffer
	limit int
	files int
	short bool // something was left out
}

// text returns the Markdown, below a note if something was left out.
func (w *markdownWriter) text() string {
	title, rest, _ := strings.Cut(w.String(), "\n")
	note := ""
	if w.short {
		lines := "without the lines"
		if w.limit > 0 {
			lines = "at most " + html.Count(w.limit, "line")
		}
		note = fmt.Sprintf("\n_Shortened to fit into a comment: prompts, lists and hunks alike, each hunk %s. `git domarkx review` shows all._\n", lines)
	}
	return title + "\n" + note + rest
}

// isFull reports whether the text is certainly too long, so that the rest of it need not be written.
func (w *markdownWriter) isFull() bool { return w.Len() > utf8.UTFMax*MaxMarkdown }

// first returns how many of n things are shown.
func (w *markdownWriter) first(n, some int) int {
	if w.isFull() {
		return 0
	}
	if shown := max(some, w.limit); shown < n {
		w.short = true
		return shown
	}
	return n
}

// list writes the first things of a list, at least some, and says how many more there are.
func list[T any](w *markdownWriter, all []T, some int, before, what string, write func(T)) {
	n := w.first(len(all), some)
	for _, one := range all[:n] {
		if w.isFull() {
			break
		}
		write(one)
	}
	w.more(len(all), n, before, what)
}

// more says that things were left out.
func (w *markdownWriter) more(n, shown int, before, what string) {
	if n > shown {
		fmt.Fprintf(w, "%s… and %s\n", before, html.Count(n-shown, "more "+what))
	}
}

// characters returns how long a text may be.
func (w *markdownWriter) characters() int { return min(maxText, charactersPer*max(4, w.limit)) }

func (w *markdownWriter) cut(s string) string {
	line := brief(s, w.characters())
	if strings.HasSuffix(line, "…") {
		w.short = true
	}
	return line
}

// code returns a text of anybody as a code span (CommonMark 0.31, section 6.1), in which nothing is Markdown, HTML or a mention.
func code(s string) string {
	s = shown(strings.Join(strings.Fields(s), " "))
	if s == "" {
		return "(empty)"
	}
	fence := strings.Repeat("`", longest(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// shown replaces invisible and reordering characters, except line ends and tabs.
func shown(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// longest returns the length of the longest run of backticks.
func longest(s string) int {
	most, n := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

func (w *markdownWriter) review(r *Review) {
	fmt.Fprintf(w, "### The conversation beside the diff: %s\n\n", code(w.cut(r.Range)))
	fmt.Fprintf(w, "**%s** in %s\n\n", Summary(r.Lines), html.Count(len(r.Files), "file"))
	list(w, r.Models, 3, "- ", "model", func(m Share) {
		name := "a model that is not recorded"
		if m.Model != "" {
			name = code(w.cut(m.Model))
		}
		fmt.Fprintf(w, "- %s by %s\n", html.Count(m.Lines, "line"), name)
	})
	if !r.Recorded && r.Lines.Added > 0 {
		w.WriteString("\nNo session here recorded which files it changed.\n")
	}
	w.missing(r)
	list(w, r.Sessions, 3, "\n", "session", w.session)
	n := min(len(r.Files), w.files)
	w.short = w.short || n < len(r.Files)
	for i := range r.Files[:n] {
		if w.isFull() {
			break
		}
		w.file(&r.Files[i])
	}
	w.more(len(r.Files), n, "\n", "file")
}

// missing names the sessions that the remote does not have.
func (w *markdownWriter) missing(r *Review) {
	names := Missing(r)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n**Not on %s, or only in part:**\n\n", code(w.cut(r.Remote)))
	list(w, names, 3, "- ", "session", func(name string) { fmt.Fprintf(w, "- %s\n", code(w.cut(name))) })
}

func (w *markdownWriter) session(s Session) {
	about := html.Count(s.Lines, "line")
	if s.Agent != "" {
		about = code(w.cut(s.Agent)) + ", " + about
	}
	fmt.Fprintf(w, "\n#### %s\n\n%s\n\n", code(w.cut(s.Name)), about)
	list(w, s.Prompts, 2, "- ", "prompt", w.prompt)
}

func (w *markdownWriter) prompt(p Prompt) {
	at := "Before the first prompt"
	if p.Index >= 0 {
		at = fmt.Sprintf("%s %s", code(fmt.Sprintf("#%d", p.Index)), code(w.cut(p.Text)))
	}
	if p.Lines > 0 {
		at += " (" + html.Count(p.Lines, "line") + ")"
	}
	fmt.Fprintf(w, "- %s\n", at)
	list(w, p.Commands, 1, "  - ", "command", func(c Command) { fmt.Fprintf(w, "  - %s: %s\n", Exit(c), code(w.cut(c.Text))) })
}

// file writes a file, folded. The summary is HTML.
func (w *markdownWriter) file(f *File) {
	name := html.Markupf("<code>%s</code>", w.cut(f.Path))
	if f.OldPath != "" {
		name += html.Markupf(" from <code>%s</code>", w.cut(f.OldPath))
	}
	fmt.Fprintf(w, "\n<details><summary>%s %s</summary>\n", name, fileSummary(f, false))
	list(w, f.Hunks, 1+hunksPer*w.limit, "\n", "hunk", w.hunk)
	w.WriteString("\n</details>\n")
}

func (w *markdownWriter) hunk(h Hunk) {
	w.WriteString("\n")
	describe := Describe
	if w.limit == 0 {
		describe = who
	}
	list(w, h.Authors, 1, "- ", "author", func(a Author) { fmt.Fprintf(w, "- %s\n", code(w.cut(describe(a)))) })
	if len(h.Authors) == 0 {
		w.WriteString("- only removes lines\n")
	}
	n := w.first(len(h.Lines), 0)
	if n == 0 {
		return
	}
	var body strings.Builder
	for _, line := range append([]string{h.Header}, h.Lines[:n]...) {
		body.WriteString(shown(w.cutLine(line)) + "\n")
	}
	fence := strings.Repeat("`", max(3, longest(body.String())+1))
	fmt.Fprintf(w, "\n%sdiff\n%s%s\n", fence, body.String(), fence)
	w.more(len(h.Lines), n, "\n", "line")
}

func (w *markdownWriter) cutLine(line string) string {
	n := w.characters()
	for i := range line {
		if n--; n < 0 {
			w.short = true
			return line[:i] + "…"
		}
	}
	return line
}
