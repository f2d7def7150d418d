package sqlite3

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	lib "modernc.org/sqlite/lib"
)

// An Error is a result code of SQLite other than SQLITE_OK (https://www.sqlite.org/rescode.html).
type Error struct {
	Code    int // extended result code
	Message string
}

func (e *Error) Error() string { return e.Message }

// Primary returns the primary result code of an [Error], or 0 for another error.
func Primary(err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code & 0xff
}

// Primary result codes that callers use.
const (
	Failed      = lib.SQLITE_ERROR
	Busy        = lib.SQLITE_BUSY
	Locked      = lib.SQLITE_LOCKED
	Interrupted = lib.SQLITE_INTERRUPT
	Corrupt     = lib.SQLITE_CORRUPT
	NotDatabase = lib.SQLITE_NOTADB
	Denied      = lib.SQLITE_AUTH
	TooBig      = lib.SQLITE_TOOBIG
	Constraint  = lib.SQLITE_CONSTRAINT
	CannotOpen  = lib.SQLITE_CANTOPEN
	ReadFailed  = lib.SQLITE_IOERR
	Mismatch    = lib.SQLITE_MISMATCH
	ReadOnly    = lib.SQLITE_READONLY
)

// A Conn is a connection to a database.
type Conn struct {
	tls   *libc.TLS
	db    uintptr
	out   uintptr // memory for two pointers that functions return
	allow func(Action) bool
	id    uintptr

	value     uintptr // memory in which a value is passed to SQLite
	valueSize int
}

const pointer = unsafe.Sizeof(uintptr(0))

// Open opens a database file, and creates it if it does not exist. It fails if a component of the path is a symbolic
// link. The caller closes the connection.
func Open(path string) (*Conn, error) {
	return open(path, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE)
}

// OpenReadOnly opens an existing database file, and never writes to it or to its log. It fails if a component of the
// path is a symbolic link. Other programs may write the database meanwhile, unless immutable is true: then SQLite
// neither locks the file nor looks for a log, and nothing may change the file.
func OpenReadOnly(path string, immutable bool) (*Conn, error) {
	name := url.URL{Scheme: "file", Path: path}
	if immutable {
		name.RawQuery = "immutable=1"
	}
	c, err := open(name.String(), lib.SQLITE_OPEN_READONLY|lib.SQLITE_OPEN_URI)
	if err == nil {
		c.configure(lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
	}
	return c, err
}

func open(path string, flags int32) (*Conn, error) {
	lib.PatchIssue199() // must come first on linux/arm64, see its documentation
	c := &Conn{tls: libc.NewTLS()}
	c.out = libc.Xcalloc(c.tls, 2, types.Size_t(pointer))
	name, err := libc.CString(path)
	if err != nil || c.out == 0 {
		c.tls.Close()
		return nil, fmt.Errorf("open a database: out of memory")
	}
	defer libc.Xfree(c.tls, name)
	flags |= lib.SQLITE_OPEN_FULLMUTEX | lib.SQLITE_OPEN_NOFOLLOW | lib.SQLITE_OPEN_EXRESCODE
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.out, flags, 0)
	c.db = c.result(0)
	if err := c.check(rc); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	// Statements must not be able to corrupt the file, and functions in a schema are not trusted.
	c.configure(lib.SQLITE_DBCONFIG_DEFENSIVE, 1)
	c.configure(lib.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
	c.WaitForLocks(busyTimeout)
	return c, nil
}

// WaitForLocks sets how long a statement waits for the lock of another program; the default is two seconds. After that
// the statement fails with [Busy].
func (c *Conn) WaitForLocks(limit time.Duration) {
	lib.Xsqlite3_busy_timeout(c.tls, c.db, int32(limit/time.Millisecond))
}

// busyTimeout is how long statements wait for locks unless [Conn.WaitForLocks] is called.
const busyTimeout = 2 * time.Second

func (c *Conn) configure(option, value int32) {
	arguments := libc.Xmalloc(c.tls, 16)
	defer libc.Xfree(c.tls, arguments)
	lib.Xsqlite3_db_config(c.tls, c.db, option, libc.VaList(arguments, value, uintptr(0)))
}

// result returns the i-th of two pointers that a function of SQLite has stored through its arguments.
func (c *Conn) result(i int) uintptr {
	b := libc.GoBytes(c.out+uintptr(i)*pointer, int(pointer))
	if pointer == 4 {
		return uintptr(binary.NativeEndian.Uint32(b))
	}
	return uintptr(binary.NativeEndian.Uint64(b))
}

// Close closes the connection and rolls back an open transaction.
func (c *Conn) Close() error {
	if c.tls == nil {
		return nil
	}
	rc := lib.Xsqlite3_close_v2(c.tls, c.db)
	restrictions.Delete(c.id)
	libc.Xfree(c.tls, c.out)
	libc.Xfree(c.tls, c.value)
	c.tls.Close()
	c.tls = nil
	if rc != lib.SQLITE_OK {
		return &Error{Code: int(rc), Message: "the connection cannot be closed"}
	}
	return nil
}

// memory returns at least size bytes of C memory, which are valid until the next call.
func (c *Conn) memory(size int) (uintptr, error) {
	const usual = 1 << 17
	if size = max(size, 1); size > c.valueSize || c.valueSize > usual {
		libc.Xfree(c.tls, c.value)
		c.valueSize = max(size, usual)
		if c.value = libc.Xmalloc(c.tls, types.Size_t(c.valueSize)); c.value == 0 {
			c.valueSize = 0
			return 0, fmt.Errorf("a value of %d bytes: out of memory", size)
		}
	}
	return c.value, nil
}

func (c *Conn) check(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	if c.db == 0 {
		return &Error{Code: int(rc), Message: libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))}
	}
	return &Error{Code: int(rc), Message: libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))}
}

// Watch interrupts running statements when ctx ends, until stop is called. An interrupted statement fails.
func (c *Conn) Watch(ctx context.Context) (stop func()) {
	ended, interrupted := make(chan struct{}), make(chan struct{})
	notCalled := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		tls := libc.NewTLS()
		defer tls.Close()
		// An interrupt has no effect if no statement is running at that moment. So repeat it.
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			lib.Xsqlite3_interrupt(tls, c.db)
			select {
			case <-ended:
				return
			case <-ticker.C:
			}
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		if !notCalled() {
			<-interrupted
		}
	})
}

// Limits that callers set with [Conn.Limit] (https://www.sqlite.org/c3ref/c_limit_attached.html).
const (
	LimitLength    = lib.SQLITE_LIMIT_LENGTH
	LimitSQLLength = lib.SQLITE_LIMIT_SQL_LENGTH
	LimitWorkers   = lib.SQLITE_LIMIT_WORKER_THREADS
)

// Limit sets a limit to a lower value.
func (c *Conn) Limit(limit, value int) {
	lib.Xsqlite3_limit(c.tls, c.db, int32(limit), int32(value))
}

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Changes returns the number of rows that the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return int64(lib.Xsqlite3_changes64(c.tls, c.db)) }

// TotalChanges returns the number of rows that INSERT, UPDATE and DELETE have changed since the connection was opened,
// including changes by triggers.
func (c *Conn) TotalChanges() int64 { return int64(lib.Xsqlite3_total_changes64(c.tls, c.db)) }

// LastInsert returns the rowid of the last inserted row.
func (c *Conn) LastInsert() int64 { return int64(lib.Xsqlite3_last_insert_rowid(c.tls, c.db)) }

// Exec runs one statement without parameters, and discards its rows.
func (c *Conn) Exec(sql string) error {
	return c.Query(sql, nil, func(*Stmt) error { return nil })
}

// Query runs one statement with parameters, and calls row for each of its rows.
func (c *Conn) Query(sql string, args []any, row func(*Stmt) error) error {
	s, _, err := c.Prepare(sql)
	if err != nil || s == nil {
		return err
	}
	for i, a := range args {
		err = errors.Join(err, s.Bind(i+1, a))
	}
	for err == nil {
		var found bool
		if found, err = s.Step(); !found {
			break
		}
		err = row(s)
	}
	return errors.Join(err, s.Close())
}
