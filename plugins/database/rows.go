package database

import (
	"errors"
	"strconv"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// MaxBytes is how many bytes of JSON a result may have, its attachment included.
const MaxBytes = 64 << 20

// Rows is a result that grows by rows: the first [toolresult.Limit] bytes of JSON stand
// in the result, all of it is the attachment of a longer one.
type Rows struct {
	columns []string
	rows    []domarkx.Value
	size    int // of the JSON so far
	count   int // of rows in it
	all     *toolresult.Spool
	cut     bool // whether rows were left out of the result
	full    bool // whether there were too many for the attachment
	buffer  []byte
}

// NewRows begins a result. A long one is kept in a file of a directory meanwhile.
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

func names(columns []string) domarkx.Value {
	items := make([]domarkx.Value, len(columns))
	for i, c := range columns {
		items[i] = Value(c)
	}
	return domarkx.ArrayValue(items...)
}

// Add adds a row, and reports whether there may be more.
func (r *Rows) Add(row []domarkx.Value) (more bool, err error) {
	if r.full {
		return false, nil
	}
	v := domarkx.ArrayValue(row...)
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

// Discard gives the result up.
func (r *Rows) Discard() error { return r.all.Close() }

// Result ends the result. The members come before columns and rows.
func (r *Rows) Result(members ...domarkx.Member) (domarkx.Result, error) {
	members = append(members,
		domarkx.Member{Name: "columns", Value: names(r.columns)},
		domarkx.Member{Name: "rows", Value: domarkx.ArrayValue(r.rows...)})
	if !r.cut {
		return domarkx.Result{Value: domarkx.ObjectValue(members...)}, r.all.Close()
	}
	r.buffer = append(r.buffer[:0], "]}\n"...)
	if err := r.flush(); err != nil {
		return domarkx.Result{}, errors.Join(err, r.all.Close())
	}
	members = append(members,
		domarkx.Member{Name: "truncated", Value: domarkx.BoolValue(true)},
		domarkx.Member{Name: "bytes", Value: domarkx.NumberValue(strconv.Itoa(r.size))})
	if r.full {
		members = append(members, domarkx.Member{Name: "incomplete", Value: domarkx.BoolValue(true)})
	}
	result := domarkx.Result{Value: domarkx.ObjectValue(members...)}
	whole, err := r.all.Attachment()
	if whole != nil {
		result.Attachment = whole
	}
	return result, err
}
