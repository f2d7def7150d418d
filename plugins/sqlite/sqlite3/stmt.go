package sqlite3

import (
	"bytes"
	"fmt"
	"strings"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A Stmt is a prepared statement.
type Stmt struct {
	c       *Conn
	p       uintptr
	columns []string
}

// Prepare compiles the first statement of sql, and returns the rest of sql. The statement is nil if sql contains only
// white space and comments. The caller closes the statement.
func (c *Conn) Prepare(sql string) (s *Stmt, rest string, err error) {
	if strings.IndexByte(sql, 0) >= 0 {
		return nil, "", &Error{Code: lib.SQLITE_ERROR, Message: "a NUL in the SQL"}
	}
	text, err := libc.CString(sql)
	if err != nil {
		return nil, "", err
	}
	defer libc.Xfree(c.tls, text)
	if err := c.check(lib.Xsqlite3_prepare_v2(c.tls, c.db, text, int32(len(sql)+1), c.out, c.out+pointer)); err != nil {
		return nil, "", err
	}
	p, end := c.result(0), c.result(1)
	rest = sql[end-text:]
	if p == 0 {
		return nil, rest, nil
	}
	s = &Stmt{c: c, p: p, columns: make([]string, lib.Xsqlite3_column_count(c.tls, p))}
	for i := range s.columns {
		s.columns[i] = libc.GoString(lib.Xsqlite3_column_name(c.tls, p, int32(i)))
	}
	return s, rest, nil
}

// Close frees the statement. It does nothing if that is nil.
func (s *Stmt) Close() error {
	if s == nil || s.p == 0 {
		return nil
	}
	lib.Xsqlite3_finalize(s.c.tls, s.p) // its result is the error of the last Step, which the caller has
	s.p = 0
	return nil
}

// Reset prepares the statement to run again, with the same parameters.
func (s *Stmt) Reset() {
	lib.Xsqlite3_reset(s.c.tls, s.p) // its result is the error of the last Step, which the caller has
}

// Int returns the value of a column, counted from 0, in the current row as an integer.
func (s *Stmt) Int(i int) int64 {
	return int64(lib.Xsqlite3_column_int64(s.c.tls, s.p, int32(i)))
}

// Float returns the value of a column, counted from 0, in the current row as a floating-point number.
func (s *Stmt) Float(i int) float64 { return lib.Xsqlite3_column_double(s.c.tls, s.p, int32(i)) }

// ReadOnly reports whether the statement makes no direct changes to the database
// (https://www.sqlite.org/c3ref/stmt_readonly.html).
func (s *Stmt) ReadOnly() bool { return lib.Xsqlite3_stmt_readonly(s.c.tls, s.p) != 0 }

// Columns returns the names of the result's columns. It is empty for a statement that returns no rows.
func (s *Stmt) Columns() []string { return s.columns }

// Parameters returns the names of the parameters, each with its ":", "@", "$" or "?", and "" for one without a name.
// The element 0 is the name of parameter 1.
func (s *Stmt) Parameters() []string {
	names := make([]string, lib.Xsqlite3_bind_parameter_count(s.c.tls, s.p))
	for i := range names {
		if name := lib.Xsqlite3_bind_parameter_name(s.c.tls, s.p, int32(i+1)); name != 0 {
			names[i] = libc.GoString(name)
		}
	}
	return names
}

// transient asks SQLite to copy a value that is passed to it.
const transient = ^uintptr(0)

// Bind sets a parameter, counted from 1. value is nil, a bool, which becomes 0 or 1, an int64, float64, string or []byte.
func (s *Stmt) Bind(i int, value any) error {
	switch v := value.(type) {
	case nil:
		return s.c.check(lib.Xsqlite3_bind_null(s.c.tls, s.p, int32(i)))
	case bool:
		number := lib.Tsqlite_int64(0)
		if v {
			number = 1
		}
		return s.c.check(lib.Xsqlite3_bind_int64(s.c.tls, s.p, int32(i), number))
	case int64:
		return s.c.check(lib.Xsqlite3_bind_int64(s.c.tls, s.p, int32(i), lib.Tsqlite_int64(v)))
	case float64:
		return s.c.check(lib.Xsqlite3_bind_double(s.c.tls, s.p, int32(i), v))
	case string:
		p, err := s.c.memory(len(v))
		if err != nil {
			return err
		}
		copy(libc.GoBytes(p, len(v)), v)
		return s.c.check(lib.Xsqlite3_bind_text64(s.c.tls, s.p, int32(i), p, lib.Tsqlite3_uint64(len(v)), transient, lib.SQLITE_UTF8))
	case []byte:
		p, err := s.c.memory(len(v))
		if err != nil {
			return err
		}
		copy(libc.GoBytes(p, len(v)), v)
		return s.c.check(lib.Xsqlite3_bind_blob64(s.c.tls, s.p, int32(i), p, lib.Tsqlite3_uint64(len(v)), transient))
	}
	return fmt.Errorf("cannot bind a parameter of type %T", value)
}

// Step runs the statement up to its next row, and reports whether there is one.
func (s *Stmt) Step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.c.tls, s.p); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.check(rc)
	}
}

// Column returns the value of a column, counted from 0, in the current row: nil, an int64, float64, string or []byte. A
// string need not be valid UTF-8.
func (s *Stmt) Column(i int) any {
	tls, p, n := s.c.tls, s.p, int32(i)
	switch lib.Xsqlite3_column_type(tls, p, n) {
	case lib.SQLITE_INTEGER:
		return int64(lib.Xsqlite3_column_int64(tls, p, n))
	case lib.SQLITE_FLOAT:
		return lib.Xsqlite3_column_double(tls, p, n)
	case lib.SQLITE_TEXT:
		text := lib.Xsqlite3_column_text(tls, p, n)
		if text == 0 {
			return ""
		}
		return string(libc.GoBytes(text, int(lib.Xsqlite3_column_bytes(tls, p, n))))
	case lib.SQLITE_BLOB:
		blob := lib.Xsqlite3_column_blob(tls, p, n)
		size := lib.Xsqlite3_column_bytes(tls, p, n)
		if blob == 0 || size == 0 {
			return []byte{}
		}
		return bytes.Clone(libc.GoBytes(blob, int(size)))
	}
	return nil
}

// AppendBytes appends the value of a column, counted from 0, in the current row to dst. The value must be a string or
// []byte.
func (s *Stmt) AppendBytes(dst []byte, i int) []byte {
	blob := lib.Xsqlite3_column_blob(s.c.tls, s.p, int32(i))
	size := lib.Xsqlite3_column_bytes(s.c.tls, s.p, int32(i))
	if blob == 0 || size == 0 {
		return dst
	}
	return append(dst, libc.GoBytes(blob, int(size))...)
}
