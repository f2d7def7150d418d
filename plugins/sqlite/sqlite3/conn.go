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

// An Error is a result of SQLite other than SQLITE_OK.
type Error struct {
	Code    int // extended result code
	Message string
}

func (e *Error) Error() string { return e.Message }

// Primary returns the primary result code of an error of this package, or 0 for other errors.
func Primary(err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code & 0xff
}

// Primary result codes that callers check.
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

	value     uintptr // memory for a value on its way to SQLite
	valueSize int
}

const pointer = unsafe.Sizeof(uintptr(0))

// Open opens the database in a file and creates it if it does not exist. It fails if a component
// of the path is a symbolic link.
func Open(path string) (*Conn, error) {
	return open(path, lib.SQLITE_OPEN_READWRITE|lib.SQLITE_OPEN_CREATE)
}

// OpenReadOnly opens the database in an existing file, and never writes to the file or to its log.
// It fails if a component of the path is a symbolic link. Another program may write the database
// meanwhile, unless immutable is true: then nothing must write it, and SQLite neither locks it nor
// looks for a log.
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

// WaitForLocks limits how long a statement waits for another program's lock, in place of two seconds.
func (c *Conn) WaitForLocks(limit time.Duration) {
	lib.Xsqlite3_busy_timeout(c.tls, c.db, int32(limit/time.Millisecond))
}

// WriteShadowTables lets statements write the tables in which virtual tables, such as those of FTS5,
// store their data. It is for databases that only this program writes.
func (c *Conn) WriteShadowTables() { c.configure(lib.SQLITE_DBCONFIG_DEFENSIVE, 0) }

// busyTimeout is the limit of [Conn.WaitForLocks] unless a caller sets another one.
const busyTimeout = 2 * time.Second

func (c *Conn) configure(option, value int32) {
	arguments := libc.Xmalloc(c.tls, 16)
	defer libc.Xfree(c.tls, arguments)
	lib.Xsqlite3_db_config(c.tls, c.db, option, libc.VaList(arguments, value, uintptr(0)))
}

// result returns a pointer that a function stored through an argument.
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

// memory returns memory of C of at least a size, which is valid until the next call.
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

// Watch interrupts the running statement when ctx ends, until stop is called.
func (c *Conn) Watch(ctx context.Context) (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		tls := libc.NewTLS()
		defer tls.Close()
		// Repeat it, since an interrupt has no effect while no statement runs.
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
		watching.Wait()
	})
}

// Limits that can be set (https://www.sqlite.org/c3ref/c_limit_attached.html).
const (
	LimitLength    = lib.SQLITE_LIMIT_LENGTH
	LimitSQLLength = lib.SQLITE_LIMIT_SQL_LENGTH
	LimitWorkers   = lib.SQLITE_LIMIT_WORKER_THREADS
)

// Limit lowers a limit.
func (c *Conn) Limit(limit, value int) {
	lib.Xsqlite3_limit(c.tls, c.db, int32(limit), int32(value))
}

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Changes returns the number of rows that the last INSERT, UPDATE or DELETE changed.
func (c *Conn) Changes() int64 { return int64(lib.Xsqlite3_changes64(c.tls, c.db)) }

// TotalChanges returns the number of rows that were changed since the connection was opened,
// including those changed by triggers.
func (c *Conn) TotalChanges() int64 { return int64(lib.Xsqlite3_total_changes64(c.tls, c.db)) }

// LastInsert returns the rowid of the last inserted row.
func (c *Conn) LastInsert() int64 { return int64(lib.Xsqlite3_last_insert_rowid(c.tls, c.db)) }

// Exec runs one statement and discards its rows.
func (c *Conn) Exec(sql string) error {
	s, _, err := c.Prepare(sql)
	if err != nil || s == nil {
		return err
	}
	for {
		row, err := s.Step()
		if err != nil || !row {
			return errors.Join(err, s.Close())
		}
	}
}
