package database

import (
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// MaxBytes limits the JSON of a result in bytes, including its attachment.
const MaxBytes = 64 << 20

// Rows collects the rows of a result. The result has the first [toolresult.Limit] bytes of JSON;
// a longer one also has an attachment with all rows.
type Rows struct {
	columns []string
	rows    []jsonvalue.Value
	size    int // of the JSON so far
	count   int // of rows in it
	all     *toolresult.Spool
	cut     bool // whether the result omits rows
	full    bool // whether the attachment omits rows
	buffer  []byte
}

// NewRows starts a result. A long one is stored in a temporary file in a directory.
func NewRows(columns []string, dir string) (*Rows, error) {
	r := &Rows{columns: columns, all: toolresult.NewSpool(dir)}
	r.buffer = append(r.buffer, `{"columns":`...)
	r.buffer = names(columns).AppendJSON(r.buffer, "", "")
	r.buffer = append(r.buffer, `,"rows":[`...)
	return r, r.flush()
}

func (r *Rows) flush() error {
	r.size += len(r.buffer)
	_, err := r.all.Write(r.buffer)
	r.buffer = r.buffer[:0]
	return err
}

func names(columns []string) jsonvalue.Value {
	items := make([]jsonvalue.Value, len(columns))
	for i, c := range columns {
		items[i] = Value(c)
	}
	return jsonvalue.ArrayValue(items...)
}

// Add adds a row, and reports whether more rows are accepted.
func (r *Rows) Add(row []jsonvalue.Value) (more bool, err error) {
	if r.full {
		return false, nil
	}
	v := jsonvalue.ArrayValue(row...)
	if r.count > 0 {
		r.buffer = append(r.buffer, ",\n"...)
	}
	r.buffer = v.AppendJSON(r.buffer, "", "")
	if r.size+len(r.buffer) > MaxBytes {
		r.full, r.cut = true, true
		return false, nil
	}
	if r.size+len(r.buffer) > toolresult.Limit {
		r.cut = true
	}
	if !r.cut {
		r.rows = append(r.rows, v)
	}
	r.count++
	return true, r.flush()
}

// Discard removes the temporary file; the result is not used.
func (r *Rows) Discard() error { return r.all.Close() }

// Result returns the result, in which the given names and values precede columns and rows (see [jsonvalue.ObjectOf]).
func (r *Rows) Result(pairs ...any) (domarkx.Result, error) {
	pairs = append(pairs, "columns", names(r.columns), "rows", jsonvalue.ArrayValue(r.rows...))
	if !r.cut {
		return domarkx.Result{Value: jsonvalue.ObjectOf(pairs...)}, r.all.Close()
	}
	r.buffer = append(r.buffer[:0], "]}\n"...)
	if err := r.flush(); err != nil {
		return domarkx.Result{}, errors.Join(err, r.all.Close())
	}
	pairs = append(pairs, "truncated", true, "bytes", r.size)
	if r.full {
		pairs = append(pairs, "incomplete", true)
	}
	whole, err := r.all.Attachment()
	return domarkx.Result{Value: jsonvalue.ObjectOf(pairs...), Attachment: whole}, err
}
