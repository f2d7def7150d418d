package sqlite3

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// An Action is an operation that a statement contains (https://www.sqlite.org/c3ref/c_alter_table.html).
type Action struct {
	Code     int
	One, Two string // depend on Code; "" if the action has no such argument
	Database string // "main", "temp", …
	Known    bool   // whether One is known: the value of an expression is not known before the statement runs
}

// Values of Action.Code that callers use.
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

// restrictions contains the connections with an authorizer, by numbers: C code must not store Go pointers.
var (
	restrictions sync.Map
	lastID       atomic.Uintptr
)

// Restrict sets a function that decides which actions statements may contain. It applies to statements that are
// prepared from then on: Prepare fails with [Denied] if allow returns false for one of its actions.
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

// functionPointer returns a Go function as the translated C code expects it: as the pointer in the func value.
func functionPointer(f func(*libc.TLS, uintptr, int32, uintptr, uintptr, uintptr, uintptr) int32) uintptr {
	return *(*uintptr)(unsafe.Pointer(&f))
}
