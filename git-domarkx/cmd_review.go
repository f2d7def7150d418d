package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
)

type reviewCmd struct {
	jsonOption
	Format string   `enum:"text,markdown,json,html" default:"text" placeholder:"FORMAT" help:"text (the default), markdown for a comment on a pull request, json, or html, one page without scripts."`
	Stat   bool     `help:"Only the numbers of lines of each file, without the hunks."`
	Staged bool     `help:"Review what is staged, since RANGE or HEAD."`
	Range  string   `arg:"" optional:"" name:"RANGE" help:"What to review, as for git diff: A..B, A...B or REV; COMMIT^! is what a commit changed."`
	Paths  []string `arg:"" optional:"" name:"PATH" help:"Only these files and directories; they follow after --."`

	selection review.Options
}

func (reviewCmd) row() any { return review.Review{} }

func (c *reviewCmd) prepare(inv *invocation) (err error) {
	c.selection, err = c.options(inv.args)
	return err
}

func (c *reviewCmd) Run(inv *invocation, opened managers) error {
	opened.store.BoundMemory(packMemory)
	r, err := opened.reviews().Review(inv.ctx, c.selection)
	if err != nil {
		return err
	}
	switch {
	case c.JSON || c.Format == "json":
		return printResult(inv, true, *r)
	case c.Format == "markdown":
		return inv.writeDocument([]byte(review.Markdown(r)))
	case c.Format == "html":
		return inv.writeDocument(review.HTML(r))
	}
	if err := inv.page(); err != nil {
		return err
	}
	return writeReview(inv, r)
}

// options returns the selection. Paths are the arguments after "--".
func (c *reviewCmd) options(typed []string) (review.Options, error) {
	o := review.Options{Staged: c.Staged, Stat: c.Stat}
	named := c.Paths
	if c.Range != "" {
		named = append([]string{c.Range}, c.Paths...)
	}
	if i := slices.Index(typed, "--"); i >= 0 {
		n := max(0, len(named)-(len(typed)-i-1))
		named, o.Paths = named[:n], named[n:]
	}
	if len(named) > 1 {
		return o, usagef("%q and %q are two ranges; write A..B, and paths after --", named[0], named[1])
	}
	if len(named) == 1 {
		o.Range = named[0]
	}
	return o, nil
}

// writeDocument prints a text as it is, or so that it cannot control the terminal.
func (inv *invocation) writeDocument(data []byte) error {
	w := inv.out.document()
	_, err := w.Write(data)
	return errors.Join(err, w.Close())
}

// What a terminal shows of a review before the hunks.
const (
	commandsShown = 10 // of a turn
	authorsShown  = 8  // of a hunk
	silentShown   = 2  // prompts in a row that wrote no line of the change
)

// A reviewWriter writes a review for a terminal.
type reviewWriter struct {
	inv   *invocation
	paint func(style, string) string
	width int // of a line, in characters
}

func writeReview(inv *invocation, r *review.Review) error {
	w := reviewWriter{inv, inv.color(), 100}
	if inv.out.tty {
		w.width = inv.out.width()
	}
	w.summary(r)
	for i := range r.Files {
		if r.Files[i].Header == nil {
			w.line(plain, "%s: %s", r.Files[i].Path, review.FileSummary(&r.Files[i]))
		} else if err := w.file(&r.Files[i]); err != nil {
			return err
		}
	}
	return nil
}

// line writes a line of our own, cut to the width.
func (w reviewWriter) line(st style, format string, args ...any) {
	text := []rune(visibleLine(fmt.Sprintf(format, args...)))
	if len(text) > w.width {
		text = append(text[:max(1, w.width-1)], '…')
	}
	fmt.Fprintln(w.inv.out, w.paint(st, string(text)))
}

// summary writes the part above the hunks.
func (w reviewWriter) summary(r *review.Review) {
	w.line(bold, "%s", r.Range)
	w.line(plain, "%s in %s", review.Summary(r.Lines), html.Count(len(r.Files), "file"))
	for _, m := range r.Models {
		name := m.Model
		if name == "" {
			name = "a model that is not recorded"
		}
		w.line(plain, "  %s by %s", html.Count(m.Lines, "line"), name)
	}
	if !r.Recorded && r.Lines.Added > 0 {
		w.line(plain, "No session here recorded which files it changed; git domarkx pull gets the sessions of the remote.")
	}
	for _, s := range r.Sessions {
		w.session(s)
	}
	missing := review.Missing(r)
	if len(missing) > 0 {
		w.line(red, "Not on %s, or only in part:", r.Remote)
		for _, name := range missing {
			w.line(red, "  %s", name)
		}
	}
	if len(r.Files) > 0 {
		fmt.Fprintln(w.inv.out)
	}
}

// session writes a session with its prompts and commands.
func (w reviewWriter) session(s review.Session) {
	fmt.Fprintln(w.inv.out)
	about := html.Count(s.Lines, "line")
	if s.Agent != "" {
		about = s.Agent + ", " + about
	}
	w.line(cyan, "%s (%s)", s.Name, about)
	for i := 0; i < len(s.Prompts); i++ {
		silent := i
		for silent < len(s.Prompts) && s.Prompts[silent].Lines == 0 {
			silent++
		}
		if silent-i > silentShown {
			w.line(plain, "  … %d prompts that wrote no line here", silent-i)
			i = silent - 1
			continue
		}
		w.prompt(s.Prompts[i])
	}
}

func (w reviewWriter) prompt(p review.Prompt) {
	text := oneLine(p.Text[:min(len(p.Text), 8*w.width)])
	lines := ""
	if p.Lines > 0 {
		lines = " (" + html.Count(p.Lines, "line") + ")"
	}
	if p.Index < 0 {
		w.line(plain, "  before the first prompt%s", lines)
	} else {
		w.line(plain, "  #%d %s%s %s", p.Index, review.Minute(p.Date), lines, text)
	}
	for i, c := range p.Commands {
		if i == commandsShown {
			w.line(plain, "      … and %s more", html.Count(len(p.Commands)-i, "command"))
			break
		}
		st := plain
		if c.Status != "ok" {
			st = red
		}
		w.line(st, "      %s: %s", review.Exit(c), oneLine(c.Text[:min(len(c.Text), 8*w.width)]))
	}
}

// file writes the diff of a file as git does, with the authors above each hunk.
func (w reviewWriter) file(f *review.File) error {
	err := writeDiff(w.inv, []byte(strings.Join(f.Header, "\n")+"\n"))
	for _, h := range f.Hunks {
		w.authors(h, f.Submodule)
		if err = writeDiff(w.inv, []byte(h.Header+"\n")); err != nil {
			break
		}
		w.lines(h.Lines)
	}
	return err
}

// lines writes the lines of a hunk. Unlike [writeDiff] it takes none of them for a header.
func (w reviewWriter) lines(lines []string) {
	for _, line := range lines {
		if w.inv.out.tty {
			line = displayed(strings.TrimSuffix(line, "\r"))
		}
		st := plain
		if strings.HasPrefix(line, "+") {
			st = green
		} else if strings.HasPrefix(line, "-") {
			st = red
		}
		w.inv.out.WriteString(w.paint(st, line) + "\n")
	}
}

func (w reviewWriter) authors(h review.Hunk, submodule bool) {
	if len(h.Authors) == 0 && !submodule {
		w.line(bold, "# only removes lines")
	}
	for i, a := range h.Authors {
		if submodule {
			break
		}
		if i == authorsShown {
			w.line(bold, "# … and %d more", len(h.Authors)-i)
			break
		}
		w.line(bold, "# %s", review.Describe(a))
	}
}
