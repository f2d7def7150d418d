package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A table is a list of results. On a terminal it has aligned columns that fit it, perhaps a head, short object ids and local
// dates. Elsewhere the fields of a line are separated by tabs, with full ids and UTC dates (see [field]).
type table struct {
	head   []string
	shapes []shape // of the columns; those beyond them are fixed
	rows   [][]cell
	below  [][]string // lines below each row that only people see
	widths []int      // minimum widths of the columns, from earlier rows
}

// A cell is one field, in a form for programs, one for people, and one for narrow terminals, which may be "".
type cell struct{ program, person, short string }

// text returns the cell of a text; invalid UTF-8 in it becomes U+FFFD.
func text(s string) cell { return cell{program: strings.ToValidUTF8(s, "\uFFFD"), person: s} }

// path returns the cell of a path. Programs get its bytes unchanged, even if they are not UTF-8.
func path(s string) cell { return cell{program: s, person: s} }

// number returns the cell of a number; people see separators, or on a narrow terminal about how much it is.
func number[N int | int64](n N) cell {
	return cell{strconv.FormatInt(int64(n), 10), grouped(n), roughly(int64(n))}
}

// oid returns the cell of an object id; people see its first ten digits.
func oid(id string) cell { return cell{program: id, person: id[:min(len(id), 10)]} }

// date returns the cell of a time in Unix seconds; 0 means no date. On a narrow terminal people see the day.
func date(unix int64) cell {
	if unix == 0 {
		return cell{}
	}
	t := time.Unix(unix, 0)
	return cell{utc(unix), t.Format("2006-01-02 15:04"), t.Format(time.DateOnly)}
}

// utc returns a time in Unix seconds for programs; 0 means no date.
func utc(unix int64) string {
	if unix == 0 {
		return ""
	}
	return time.Unix(unix, 0).UTC().Format(time.RFC3339)
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

func (t *table) write(inv *invocation) error {
	if inv.out.tty {
		t.writeAligned(inv)
	} else {
		for _, row := range t.rows {
			t.writeLine(inv, row)
		}
	}
	return inv.out.failed()
}

// writeLine writes a row for programs.
func (t *table) writeLine(inv *invocation, row []cell) {
	for i, c := range row {
		if i < len(t.shapes) && t.shapes[i].person {
			continue
		}
		if i > 0 {
			inv.out.WriteByte('\t')
		}
		inv.out.WriteString(field(c.program))
	}
	inv.out.WriteByte('\n')
}

func (t *table) writeAligned(inv *invocation) {
	if len(t.rows) == 0 {
		return
	}
	columns := t.columns()
	fit(columns, inv.out.width())
	paint := inv.color()
	if len(t.head) > 0 {
		for _, line := range headLines(columns) {
			fmt.Fprintln(inv.out, paint(bold, line))
		}
	}
	for r := range t.rows {
		cells := make([][]string, len(columns))
		for i, c := range columns {
			cells[i] = c.lines(r)
		}
		for _, line := range sideBySide(columns, cells) {
			fmt.Fprintln(inv.out, line)
		}
		if r >= len(t.below) {
			continue
		}
		for _, line := range t.below[r] {
			const indent = "    "
			fmt.Fprintln(inv.out, indent+shorten(visibleLine(line), inv.out.width()-len(indent)))
		}
	}
}

// columns returns the columns of the table, as wide as their content.
func (t *table) columns() []*column {
	columns := make([]*column, len(t.rows[0]))
	for i := range columns {
		c := &column{}
		if i < len(t.shapes) {
			c.shape = t.shapes[i]
		}
		if i < len(t.head) {
			c.head = t.head[i]
		}
		for _, row := range t.rows {
			c.cells = append(c.cells, shownCell{visibleLine(row[i].person), visibleLine(cmp.Or(row[i].short, row[i].person))})
		}
		c.measure()
		if i < len(t.widths) {
			c.natural = max(c.natural, t.widths[i])
		}
		columns[i] = c
	}
	t.widths = t.widths[:0]
	for _, c := range columns {
		t.widths = append(t.widths, c.natural)
	}
	return columns
}
