package postgres

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A copyWatch reads the server's messages and makes each COPY … FROM STDIN fail, since otherwise
// the server waits for rows that do not exist and the library waits for the server (PostgreSQL
// manual, 55.2.6). It records each COPY … TO STDOUT, whose rows the library discards.
type copyWatch struct {
	r    io.Reader
	w    io.Writer
	head []byte // header of the next message, as far as it was read: type and length
	body int    // bytes of the message still to be read
	on   bool   // whether the statements are a tool's
	out  bool   // a COPY … TO STDOUT was seen
}

// The messages of interest, by their first byte.
const (
	copyInResponse  = 'G'
	copyOutResponse = 'H'
)

// watchCopies installs a watch on the connection made with a config.
func watchCopies(c *pgconn.Config) *copyWatch {
	watch := &copyWatch{}
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		*watch = copyWatch{r: r, w: w}
		return pgproto3.NewFrontend(watch, w)
	}
	return watch
}

func (c *copyWatch) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if c.body > 0 {
			skip := min(c.body, len(rest))
			c.body, rest = c.body-skip, rest[skip:]
			continue
		}
		c.head, rest = append(c.head, rest[0]), rest[1:]
		if len(c.head) < 5 {
			continue
		}
		kind, length := c.head[0], binary.BigEndian.Uint32(c.head[1:])
		c.head = c.head[:0]
		c.body = max(0, int(length)-4) // the length counts itself
		switch {
		case c.on && kind == copyInResponse:
			err = errors.Join(err, c.fail())
		case c.on && kind == copyOutResponse:
			c.out = true
		}
	}
	return n, err
}

// fail reports to the server that no rows will come. The server skips the Sync that was sent before, so
// fail sends another one.
func (c *copyWatch) fail() error {
	message, err := (&pgproto3.CopyFail{Message: "rows cannot be sent here; use INSERT"}).Encode(nil)
	if err == nil {
		message, err = (&pgproto3.Sync{}).Encode(message)
	}
	if err == nil {
		_, err = c.w.Write(message)
	}
	return err
}

// refused is the error of statements whose rows are discarded.
func (c *copyWatch) refused() error {
	if !c.out {
		return nil
	}
	return database.Errorf(domarkx.CodeInvalid, "COPY … TO STDOUT returns nothing here; use the tool query. The other statements of this call took effect")
}
