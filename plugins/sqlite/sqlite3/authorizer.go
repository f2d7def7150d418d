package sqlite3

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// An Action is an operation that a statement is going to perform
// (https://www.sqlite.org/c3ref/c_alter_table.html).
type Action struct {
	Code     int
	One, Two string // depend on the code; "" for none
	Database string // "main", "temp", …
	Known    bool   // whether there is a One: an expression that is computed later is none
}

// Action codes that callers check.
const (
	Attach       = lib.SQLITE_ATTACH
	Delete       = lib.SQLITE_DELETE
	Detach       = lib.SQLITE_DETACH
	Function     = lib.SQLITE_FUNCTION
	Insert       = lib.SQLITE_INSERT
	Pragma       = lib.SQLITE_PRAGMA
	Read         = lib.SQLITE_READ
	Recursive    = lib.SQLITE_RECURSIVE
	Select       = lib.SQLITE_SELECT
	Transaction  = lib.SQLITE_TRANSACTION
	Update       = lib.SQLITE_UPDATE
	CreateVTable = lib.SQLITE_CREATE_VTABLE
)

// restrictions are the authorizers of connections, by a number that C code can store instead of
// a Go pointer.
var (
	restrictions sync.Map
	lastID       atomic.Uintptr
)

// Restrict limits statements that are prepared from now on to actions for which allow returns
// true. Others fail with [Denied].
func (c *Conn) Restrict(allow func(Action) bool) {
	if c.id == 0 {
		c.id = lastID.Add(1)
		restrictions.Store(c.id, c)
		lib.Xsqlite3_set_authorizer(c.tls, c.db, functionPointer(authorize), c.id)
	}
	c.allow = allow
}

func authorize(_ *libc.TLS, id uintptr, code int32, one, two, database, _ uintptr) int32 {
	c, ok := restrictions.Load(id)
	if ok && c.(*Conn).allow(Action{int(code), libc.GoString(one), libc.GoString(two), libc.GoString(database), one != 0}) {
		return lib.SQLITE_OK
	}
	return lib.SQLITE_DENY
}

// functionPointer returns the address of a function in the form that the translated C code
// expects: the pointer in a func value.
func functionPointer(f func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr, uintptr) int32) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}
