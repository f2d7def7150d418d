package opencode

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A StoredSession is a session in OpenCode's database.
type StoredSession struct {
	ID        string
	Directory string // the directory in which the session began
	// Stamp differs whenever the session has changed; "" if unknown.
	Stamp string
}

// ErrChanged means that another program changed the database in a way that made reading it
// impossible. The read can be repeated.
var ErrChanged = fmt.Errorf("%w: the database changed while it was read; import it again", domarkx.ErrInvalid)
