package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
)

// A table is a list of results. On a terminal it has aligned columns, perhaps a head, short
// object ids and local dates. Elsewhere the fields of a line are separated by tabs, with
// full ids and UTC dates (see [field]).
type table struct {
	head    []string
	rows    [][]cell
	widths  []int // minimum widths of the columns, from earlier rows
	preview bool  // cut the last column to the width of the terminal: another command shows the whole text
}

// A cell is one field, in a form for programs and a form for people.
type cell struct{ program, person string }

// text returns the cell of a text; invalid UTF-8 in it becomes U+FFFD.
func text(s string) cell { return cell{strings.ToValidUTF8(s, "\uFFFD"), s} }

// path returns the cell of a path. Programs get its bytes unchanged, even if they are not UTF-8.
func path(s string) cell { return cell{s, s} }

func number[N int | int64](n N) cell { s := strconv.FormatInt(int64(n), 10); return cell{s, s} }

// oid returns the cell of an object id; people see its first ten digits.
func oid(id string) cell { return cell{id, id[:min(len(id), 10)]} }

// date returns the cell of a time in Unix seconds; 0 means no date.
func date(unix int64) cell {
	if unix == 0 {
		return cell{}
	}
	t := time.Unix(unix, 0)
	return cell{t.UTC().Format(time.RFC3339), t.Format("2006-01-02 15:04")}
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

func (t *table) write(inv *invocation) error {
	if inv.out.tty {
		return t.writeAligned(inv)
	}
	for _, row := range t.rows {
		for i, c := range row {
			if i > 0 {
				inv.out.WriteByte('\t')
			}
			inv.out.WriteString(field(c.program))
		}
		if err := inv.out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) writeAligned(inv *invocation) error {
	if len(t.rows) == 0 {
		return nil
	}
	widths := make([]int, len(t.rows[0]))
	copy(widths, t.widths)
	for i, h := range t.head {
		widths[i] = uniseg.StringWidth(h)
	}
	shown := make([][]string, len(t.rows))
	for r, row := range t.rows {
		for i, c := range row {
			s := visibleLine(c.person)
			shown[r] = append(shown[r], s)
			widths[i] = max(widths[i], uniseg.StringWidth(s))
		}
	}
	t.widths = widths
	paint := inv.color()
	line := func(cells []string, style style) error {
		used := 0
		var b strings.Builder
		for i, s := range cells {
			if i == len(cells)-1 {
				if t.preview {
					s = cut(s, max(20, inv.out.width()-used))
				}
				b.WriteString(s)
				break
			}
			b.WriteString(s + strings.Repeat(" ", widths[i]-uniseg.StringWidth(s)+2))
			used += widths[i] + 2
		}
		_, err := fmt.Fprintln(inv.out, paint(style, strings.TrimRight(b.String(), " ")))
		return err
	}
	if len(t.head) > 0 {
		if err := line(t.head, bold); err != nil {
			return err
		}
	}
	for _, row := range shown {
		if err := line(row, plain); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens s to a width in columns.
func cut(s string, width int) string {
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(s); g.Next(); {
		if used += g.Width(); used > width-1 {
			break
		}
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}
