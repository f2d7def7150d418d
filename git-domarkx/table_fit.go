package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// A shape says how a column becomes narrower where the terminal is.
type shape struct {
	kind   string // see the constants
	spare  bool   // it is left out where there is no room for it
	person bool   // it is only on terminals, and spare there
}

// The kinds of columns. Any other one keeps its width as long as possible.
const (
	nameColumn    = "name"    // shortened in its middle
	previewColumn = "preview" // cut at its end: another command shows the whole text
	codeColumn    = "code"    // like preview, and gets half of the terminal
	wrapColumn    = "wrap"    // continued on the next line
	numberColumn  = "number"  // right-aligned, with separators
	indexColumn   = "index"   // right-aligned
)

// gap is the space between columns.
const gap = 2

// Widths that columns get if all others leave room for them.
const (
	wideName   = 24
	narrowName = 12
	narrowText = 10
	leastText  = 20
)

// A shownCell is what people see of a cell.
type shownCell struct{ whole, short string }

// A column is a column of a table on a terminal.
type column struct {
	shape   shape
	head    string
	cells   []shownCell
	short   bool // the short forms of the cells are shown
	stacked bool // the head has a line for each word
	left    bool // it is left out
	natural int  // the width of its content
	width   int
}

// measure sets the natural width of the column.
func (c *column) measure() {
	c.natural = uniseg.StringWidth(c.head)
	if c.stacked {
		c.natural = 0
		for _, word := range strings.Fields(c.head) {
			c.natural = max(c.natural, uniseg.StringWidth(word))
		}
	}
	for r := range c.cells {
		c.natural = max(c.natural, uniseg.StringWidth(c.cell(r)))
	}
}

func (c *column) cell(r int) string {
	if c.short {
		return c.cells[r].short
	}
	return c.cells[r].whole
}

// lines returns the lines of a cell, not wider than the column.
func (c *column) lines(r int) []string {
	s := c.cell(r)
	switch c.shape.kind {
	case previewColumn, codeColumn:
		return []string{cut(s, c.width)}
	case wrapColumn:
		return wrap(s, c.width)
	}
	return []string{shorten(s, c.width)}
}

// isText reports whether the column gets what others leave.
func (c *column) isText() bool {
	return c.shape.kind == previewColumn || c.shape.kind == codeColumn || c.shape.kind == wrapColumn
}

// fit sets the widths of columns so that they fit a terminal, if they can.
func fit(columns []*column, screen int) {
	floors := struct{ name, text, other int }{screen, max(leastText, screen/3), screen}
	set := func() (free int) {
		free = screen + gap
		for _, c := range columns {
			floor := floors.other
			switch {
			case c.shape.kind == nameColumn:
				floor = floors.name
			case c.shape.kind == wrapColumn:
				floor = min(floors.text, max(leastText, screen/5))
			case c.shape.kind == codeColumn && floors.text > narrowText:
				floor = screen / 2
			case c.isText():
				floor = floors.text
			}
			if c.width = min(c.natural, floor); !c.left {
				free -= c.width + gap
			}
		}
		return free
	}
	each := func(change func(c *column)) func() {
		return func() {
			for _, c := range columns {
				change(c)
				c.measure()
			}
		}
	}
	steps := []func(){
		func() { floors.name = wideName },
		each(func(c *column) { c.short = c.shape.kind != numberColumn }),
		each(func(c *column) { c.stacked = true }),
		func() { floors.name = narrowName },
		each(func(c *column) { c.short = true }),
	}
	for _, c := range columns {
		if c.shape.spare {
			steps = append(steps, func() { c.left = true })
		}
	}
	steps = append(steps, func() { floors.text = narrowText }, func() { floors.name, floors.other = narrowText, narrowName })
	free := set()
	for len(steps) > 0 && free < 0 {
		steps[0]()
		steps = steps[1:]
		free = set()
	}
	for _, wants := range []func(c *column) bool{
		func(c *column) bool { return c.shape.kind == codeColumn },
		func(c *column) bool { return c.isText() || c.shape.kind == nameColumn && c.width < wideName },
		func(c *column) bool { return true },
	} {
		free = share(columns, free, wants)
	}
}

// share gives the free width to the columns that want it, in equal parts, up to their natural widths. It returns the rest.
func share(columns []*column, free int, wants func(c *column) bool) int {
	for given := true; free > 0 && given; {
		given = false
		for _, c := range columns {
			if free > 0 && !c.left && c.width < c.natural && wants(c) {
				c.width++
				free--
				given = true
			}
		}
	}
	return free
}

// headLines returns the lines of the head.
func headLines(columns []*column) []string {
	cells := make([][]string, len(columns))
	most := 0
	for i, c := range columns {
		cells[i] = []string{c.head}
		if c.stacked && uniseg.StringWidth(c.head) > c.width {
			cells[i] = strings.Fields(c.head)
		}
		if !c.left {
			most = max(most, len(cells[i]))
		}
	}
	for i := range cells {
		cells[i] = append(slices.Repeat([]string{""}, max(0, most-len(cells[i]))), cells[i]...)
	}
	return sideBySide(columns, cells)
}

// sideBySide returns the lines of a row, given those of its cells.
func sideBySide(columns []*column, cells [][]string) []string {
	count := 0
	for i, c := range columns {
		if !c.left {
			count = max(count, len(cells[i]))
		}
	}
	lines := make([]string, count)
	for n := range lines {
		var b strings.Builder
		for i, c := range columns {
			if c.left {
				continue
			}
			s := ""
			if n < len(cells[i]) {
				s = cells[i][n]
			}
			space := strings.Repeat(" ", max(0, c.width-uniseg.StringWidth(s)))
			if c.shape.kind == numberColumn || c.shape.kind == indexColumn {
				s, space = space+s, ""
			}
			b.WriteString(s + space + strings.Repeat(" ", gap))
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// cut shortens s at its end to a width in columns.
func cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	return beginning(s, width-1) + "…"
}

// shorten shortens s in its middle to a width in columns.
func shorten(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	head := beginning(s, width/2)
	rest := s[len(head):]
	for g := uniseg.NewGraphemes(rest); uniseg.StringWidth(rest) > width-1-uniseg.StringWidth(head) && g.Next(); {
		rest = rest[len(g.Str()):]
	}
	return head + "…" + rest
}

// beginning returns as many characters of s as fit a width in columns.
func beginning(s string, width int) string {
	used, end := 0, 0
	for g := uniseg.NewGraphemes(s); g.Next(); end += len(g.Str()) {
		if used += g.Width(); used > width {
			break
		}
	}
	return s[:end]
}

// wrap returns s in lines of at most a width in columns. It breaks them at spaces, and words that are wider.
func wrap(s string, width int) []string {
	var lines []string
	for {
		line := beginning(s, width)
		if line == "" || len(line) == len(s) {
			break // the first may be a character wider than the column
		}
		if i := strings.LastIndexByte(line, ' '); i > 0 && !strings.HasPrefix(s[len(line):], " ") {
			line = line[:i]
		}
		lines, s = append(lines, strings.TrimRight(line, " ")), strings.TrimLeft(s[len(line):], " ")
	}
	return append(lines, s)
}

// roughly returns a number with at most four characters: 999, 1.2k, 35k, 1.2M.
func roughly(n int64) string {
	if n < 1000 && n > -1000 {
		return fmt.Sprint(n)
	}
	value := float64(n)
	for _, unit := range []string{"k", "M", "G", "T", "P", "E"} {
		if value /= 1000; value < 9.95 && value > -9.95 {
			return fmt.Sprintf("%.1f%s", value, unit)
		} else if value < 999.5 && value > -999.5 {
			return fmt.Sprintf("%.0f%s", value, unit)
		}
	}
	return fmt.Sprint(n)
}
