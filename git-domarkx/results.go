package main

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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

// prompt returns a writer that prints each row at once.
func (o rowsOption[R]) prompt(inv *invocation) *resultWriter[R] {
	w := newResultWriter[R](inv, o.JSON)
	w.prompt = true
	return w
}

// rowsOf returns the rows of values.
func rowsOf[V, R any](values []V, row func(V) R) []R {
	list := make([]R, len(values))
	for i, v := range values {
		list[i] = row(v)
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

// A resultPrinter is a command whose results are values of one struct type, its row. The
// fields of a row have these tags:
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

// Field types that tables and JSON format specially.
type (
	oidField  string // an object id; people see an abbreviation
	timeField int64  // Unix seconds; 0 if unknown
	textField string // a text of several lines; people see it as one
	codeField string // a line of a file; people see its tabs as spaces
	pathField string // the path of a file or directory
)

// A costField is an amount in USD, if it is known.
type costField struct {
	usd   float64
	known bool
}

// cell returns the amount; people see cents.
func (c costField) cell() cell {
	if !c.known {
		return text("-")
	}
	return cell{program: strconv.FormatFloat(c.usd, 'f', 4, 64), person: strconv.FormatFloat(c.usd, 'f', 2, 64)}
}

func (c costField) value() jsonvalue.Value {
	if !c.known {
		return jsonvalue.Value{}
	}
	return jsonvalue.NumberValue(strconv.FormatFloat(c.usd, 'f', 6, 64))
}

func printResults[T any](inv *invocation, asJSON bool, list []T) error {
	return inv.paged(func() error {
		w := newResultWriter[T](inv, asJSON)
		if inv.out.tty {
			w.aligned = len(list)
		}
		var err error
		for _, row := range list {
			err = errors.Join(err, w.add(row))
		}
		return errors.Join(err, w.end())
	})
}

func printResult[T any](inv *invocation, asJSON bool, row T) error {
	if asJSON {
		return inv.writeJSON(jsonRows{}.value(reflect.ValueOf(row)).AppendJSON(nil, "", "  "))
	}
	w := newResultWriter[T](inv, false)
	w.table.head = nil
	return errors.Join(w.add(row), w.end())
}

// jsonLine prints a row as JSON on one line, for commands that print a stream of rows.
func (inv *invocation) jsonLine(row any) error {
	return inv.writeJSON([]byte(jsonRows{}.value(reflect.ValueOf(row)).JSON()))
}

func (inv *invocation) writeJSON(data []byte) error {
	_, err := inv.out.Write(append(escapeControls(data), '\n'))
	return err
}

// A resultWriter prints rows one by one, for commands that produce them slowly or in
// large numbers.
type resultWriter[T any] struct {
	inv     *invocation
	asJSON  bool
	aligned int // how many rows share the widths of columns
	prompt  bool
	columns []resultColumn
	json    jsonRows
	table   *table
	row     T      // the last one
	cells   []cell // of a row that was printed at once
	some    bool
}

// rowsAligned is how many rows share the widths of columns in a table that may be very
// long.
const rowsAligned = 1000

func newResultWriter[T any](inv *invocation, asJSON bool) *resultWriter[T] {
	fields := columnsOf(reflect.TypeFor[T]())
	t := newTable(heads(fields)...)
	t.shapes = shapes(fields)
	return &resultWriter[T]{inv: inv, asJSON: asJSON, aligned: rowsAligned, columns: resultColumns(fields, inv.out.tty), json: jsonRows{}, table: t}
}

// add prints a row: at once if w.prompt is set, otherwise perhaps later.
func (w *resultWriter[T]) add(row T) error {
	if w.asJSON {
		before := ",\n  "
		if !w.some {
			before = "[\n  "
		}
		w.some = true
		_, err := w.inv.out.Write(escapeControls(w.json.value(reflect.ValueOf(row)).AppendJSON([]byte(before), "  ", "  ")))
		return errors.Join(err, w.flush())
	}
	if w.prompt {
		w.table.head = nil
	}
	w.row = row
	fields := reflect.ValueOf(&w.row).Elem()
	if !w.inv.out.tty {
		w.cells = appendCells(w.cells[:0], fields, w.columns)
		return errors.Join(w.table.writeLine(w.inv, w.cells), w.flush())
	}
	w.table.add(appendCells(nil, fields, w.columns)...)
	if len(w.table.rows) < w.aligned && !w.prompt {
		return nil
	}
	return errors.Join(w.end(), w.flush())
}

func (w *resultWriter[T]) flush() error {
	if !w.prompt {
		return nil
	}
	return w.inv.out.Flush()
}

// end prints the remaining rows and the end of the list.
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

// rowFields returns the fields of a row, with those of embedded structs. Their Index starts
// at the row.
func rowFields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return f.Anonymous })
}

// columnsOf returns the fields of a row that are columns of a table.
func columnsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(rowFields(t), func(f reflect.StructField) bool { return f.Tag.Get("head") == "" })
}

func heads(columns []reflect.StructField) []string {
	var names []string
	for _, f := range columns {
		names = append(names, f.Tag.Get("head"))
	}
	return names
}

func shapes(columns []reflect.StructField) []shape {
	list := make([]shape, len(columns))
	for i, f := range columns {
		kind, option, _ := strings.Cut(f.Tag.Get("show"), ",")
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int64:
			if f.Type != reflect.TypeFor[timeField]() && kind != indexColumn {
				kind = numberColumn
			}
		case reflect.Struct:
			if f.Type == reflect.TypeFor[costField]() {
				kind = numberColumn
			}
		}
		list[i] = shape{kind: kind, spare: option != "", person: option == "person"}
	}
	return list
}

// A resultColumn makes the cells of one column.
type resultColumn struct {
	index []int // of the field in the row
	cell  func(field reflect.Value) cell
}

// resultColumns returns what makes the cells of the fields, once for all rows. Cells that only programs read have no forms
// for people.
func resultColumns(fields []reflect.StructField, people bool) []resultColumn {
	columns := make([]resultColumn, len(fields))
	for i, f := range fields {
		columns[i] = resultColumn{f.Index, cellOf(f, people)}
	}
	return columns
}

func cellOf(f reflect.StructField, people bool) func(reflect.Value) cell {
	switch f.Type {
	case reflect.TypeFor[outcomeField]():
		return func(v reflect.Value) cell { return outcomeField(v.String()).cell() }
	case reflect.TypeFor[costField]():
		return func(v reflect.Value) cell { return v.Interface().(costField).cell() }
	case reflect.TypeFor[oidField]():
		return func(v reflect.Value) cell { return oid(v.String()) }
	case reflect.TypeFor[timeField]():
		if people {
			return func(v reflect.Value) cell { return date(v.Int()) }
		}
		return func(v reflect.Value) cell { return cell{program: utc(v.Int())} }
	case reflect.TypeFor[textField]():
		return func(v reflect.Value) cell {
			return cell{program: text(v.String()).program, person: oneLine(v.String())}
		}
	case reflect.TypeFor[codeField]():
		return func(v reflect.Value) cell {
			return cell{program: text(v.String()).program, person: withoutTabs(v.String())}
		}
	case reflect.TypeFor[pathField]():
		return func(v reflect.Value) cell { return path(v.String()) }
	case reflect.TypeFor[jsonvalue.Value]():
		return func(v reflect.Value) cell { return text(v.Interface().(jsonvalue.Value).JSON()) }
	case reflect.TypeFor[[]string]():
		return func(v reflect.Value) cell { return text(strings.Join(v.Interface().([]string), ",")) }
	}
	switch isNumber := f.Type.Kind() == reflect.Int || f.Type.Kind() == reflect.Int64; {
	case isNumber && people && f.Tag.Get("show") != indexColumn:
		return func(v reflect.Value) cell { return number(v.Int()) }
	case isNumber:
		return func(v reflect.Value) cell { return text(strconv.FormatInt(v.Int(), 10)) }
	}
	return func(v reflect.Value) cell { return text(v.String()) }
}

// appendCells appends the cells of a row.
func appendCells(line []cell, row reflect.Value, columns []resultColumn) []cell {
	for _, c := range columns {
		line = append(line, c.cell(row.FieldByIndex(c.index)))
	}
	return line
}

// A jsonRows converts rows to JSON. It keeps the fields of their types.
type jsonRows map[reflect.Type][]reflect.StructField

func (j jsonRows) fields(t reflect.Type) []reflect.StructField {
	fields, ok := j[t]
	if !ok {
		fields = rowFields(t)
		j[t] = fields
	}
	return fields
}

// value converts a row, or a value in a row.
func (j jsonRows) value(v reflect.Value) jsonvalue.Value {
	switch value := v.Interface().(type) {
	case jsonvalue.Value:
		return value
	case costField:
		return value.value()
	case timeField:
		if value == 0 {
			return jsonvalue.Value{}
		}
		return jsonvalue.StringValue(time.Unix(int64(value), 0).UTC().Format(time.RFC3339))
	}
	switch v.Kind() {
	case reflect.Bool:
		return jsonvalue.BoolValue(v.Bool())
	case reflect.String:
		return jsonvalue.StringValue(v.String())
	case reflect.Int, reflect.Int64:
		return jsonvalue.NumberValue(strconv.FormatInt(v.Int(), 10))
	case reflect.Pointer:
		if v.IsNil() {
			return jsonvalue.Value{}
		}
		return j.value(v.Elem())
	case reflect.Slice:
		items := make([]jsonvalue.Value, v.Len())
		for i := range items {
			items[i] = j.value(v.Index(i))
		}
		return jsonvalue.ArrayValue(items...)
	}
	var members []jsonvalue.Member
	for _, f := range j.fields(v.Type()) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := v.FieldByIndex(f.Index)
		if name == "" || name == "-" || option == "omitempty" && field.IsZero() {
			continue
		}
		members = append(members, jsonvalue.Member{Name: name, Value: j.value(field)})
	}
	return jsonvalue.ObjectValue(members...)
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
