package main

import (
	"reflect"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// jsonOption holds the option of commands that print results.
type jsonOption struct {
	JSON bool `name:"json" help:"Print the result as JSON."`
}

// rowsOption holds the option of commands that print a list of rows.
type rowsOption[R any] struct{ jsonOption }

func (rowsOption[R]) row() any { return []R{} }

// print prints a list as a table or as a JSON array, through the pager if it is longer than the screen.
func (o rowsOption[R]) print(inv *invocation, list []R) error { return printResults(inv, o.JSON, list) }

// printAll is print for a list that could be read only in part. It reports these as well, and then returns errNo.
func (o rowsOption[R]) printAll(inv *invocation, list []R, bad ...error) error {
	if err := o.print(inv, list); err != nil {
		return err
	}
	return inv.bad(bad...)
}

// prompt returns a writer that prints each row at once.
func (o rowsOption[R]) prompt(inv *invocation) *resultWriter[R] {
	w := newResultWriter[R](inv, o.JSON)
	w.prompt = true
	return w
}

// mapped returns what f makes of values.
func mapped[V, R any](values []V, f func(V) R) []R {
	list := make([]R, len(values))
	for i, v := range values {
		list[i] = f(v)
	}
	return list
}

// rowOption holds the option of commands that print one row.
type rowOption[R any] struct{ jsonOption }

func (rowOption[R]) row() any {
	var row R
	return row
}

// print prints the row as a line or as a JSON object.
func (o rowOption[R]) print(inv *invocation, row R) error { return printResult(inv, o.JSON, row) }

// A resultPrinter is a command whose results are values of one struct type, its row. The fields of a row have these tags:
//
//	json   the name of the JSON member; ",omitempty" omits a zero value
//	head   the column's heading; a field without it is not in the table
//	show   how people see the column on a narrow terminal (see [shape]): name, preview, code, wrap or index; with
//	       ",spare" it may be left out there, with ",person" it is only on terminals
//	doc    the description of the member, for the documentation
//
// A row that is not in a slice means that the command prints one object, not a list.
type resultPrinter interface{ row() any }

// rowAlternatives are the row types of a command that prints rows of several types.
type rowAlternatives []any

// printResults prints rows as a table or as a JSON array, through the pager if they are longer than the screen.
func printResults[T any](inv *invocation, asJSON bool, list []T) error {
	return inv.paged(func() error {
		w := newResultWriter[T](inv, asJSON)
		if inv.out.tty {
			w.aligned = len(list)
		}
		for _, row := range list {
			if w.add(row) != nil {
				break
			}
		}
		return w.end()
	})
}

func printResult[T any](inv *invocation, asJSON bool, row T) error {
	if asJSON {
		return inv.writeJSON(jsonRows{}.value(reflect.ValueOf(row)).AppendJSON(nil, "", "  "))
	}
	w := newResultWriter[T](inv, false)
	w.table.head = nil
	_ = w.add(row)
	return w.end()
}

// jsonLine prints a row as JSON on one line, for commands that print a stream of rows.
func (inv *invocation) jsonLine(row any) error {
	return inv.writeJSON([]byte(jsonRows{}.value(reflect.ValueOf(row)).JSON()))
}

func (inv *invocation) writeJSON(data []byte) error {
	_, err := inv.out.Write(append(escapeControls(data), '\n'))
	return err
}

// A resultWriter prints rows one by one, for commands that produce them slowly or in large numbers.
type resultWriter[T any] struct {
	inv     *invocation
	asJSON  bool
	aligned int // how many rows share the widths of columns
	prompt  bool
	columns []reflect.StructField
	json    jsonRows
	table   *table
	some    bool
}

// rowsAligned is how many rows share the widths of columns in a table that may be very long.
const rowsAligned = 1000

func newResultWriter[T any](inv *invocation, asJSON bool) *resultWriter[T] {
	columns := columnsOf(reflect.TypeFor[T]())
	t := newTable(heads(columns)...)
	t.shapes = shapes(columns)
	return &resultWriter[T]{inv: inv, asJSON: asJSON, aligned: rowsAligned, columns: columns, json: jsonRows{}, table: t}
}

// add prints a row: at once if w.prompt is set, otherwise perhaps later.
func (w *resultWriter[T]) add(row T) error {
	if w.asJSON {
		before := ",\n  "
		if !w.some {
			before = "[\n  "
		}
		w.some = true
		w.inv.out.Write(escapeControls(w.json.value(reflect.ValueOf(row)).AppendJSON([]byte(before), "  ", "  ")))
		return w.flush()
	}
	if w.prompt {
		w.table.head = nil
	}
	cells, fields := make([]cell, len(w.columns)), reflect.ValueOf(row)
	for i, column := range w.columns {
		cells[i] = cellOf(fields.FieldByIndex(column.Index).Interface(), w.table.shapes[i].kind)
	}
	if !w.inv.out.tty {
		w.table.writeLine(w.inv, cells)
		return w.flush()
	}
	w.table.add(cells...)
	if len(w.table.rows) < w.aligned && !w.prompt {
		return nil
	}
	_ = w.end()
	return w.flush()
}

func (w *resultWriter[T]) flush() error {
	if !w.prompt {
		return w.inv.out.failed()
	}
	return w.inv.out.Flush()
}

// end prints the remaining rows and the end of the list. It returns the first error of writing any.
func (w *resultWriter[T]) end() error {
	if w.asJSON {
		after := "\n]\n"
		if !w.some {
			after = "[]\n"
		}
		_, err := w.inv.out.WriteString(after)
		return err
	}
	err := w.table.write(w.inv)
	w.table.head, w.table.rows = nil, w.table.rows[:0]
	return err
}

// resultFields returns the JSON members of the results that a command prints, or nil.
func resultFields(command any) []clidoc.Item {
	if printer, ok := command.(resultPrinter); ok {
		return resultItems(printer.row())
	}
	return nil
}

// resultItems returns the JSON members of a command's results, with their descriptions.
func resultItems(row any) []clidoc.Item {
	if all, ok := row.(rowAlternatives); ok {
		var items []clidoc.Item
		for _, one := range all {
			items = append(items, resultItems(one)...)
		}
		return items
	}
	return jsonFields(structIn(reflect.TypeOf(row)), "")
}

// structIn returns t if it is a struct, or the struct type behind a slice or pointer t.
func structIn(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

// jsonFields returns the JSON members of an object with their descriptions. Members of
// nested objects have names such as "call.session".
func jsonFields(t reflect.Type, prefix string) []clidoc.Item {
	var items []clidoc.Item
	for _, f := range rowFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		items = append(items, clidoc.Item{Term: prefix + name, Text: f.Tag.Get("doc")})
		if inner := structIn(f.Type); inner.Kind() == reflect.Struct && inner != reflect.TypeFor[jsonvalue.Value]() && inner != reflect.TypeFor[costField]() {
			items = append(items, jsonFields(inner, prefix+name+".")...)
		}
	}
	return items
}
