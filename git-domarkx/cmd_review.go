package main

import (
	"errors"
	"slices"

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
