package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgproto3"
)

// A connection is a connection to the database. Each call has its own, so that none sees settings of another.
type connection struct {
	*pgconn.PgConn
	copies *copyWatch
}

// settings make the server write values in the same form everywhere. Statements may change them for themselves.
var settings = map[string]string{
	"application_name":   "git-domarkx",
	"client_encoding":    "UTF8",
	"DateStyle":          "ISO, MDY",
	"IntervalStyle":      "postgres",
	"TimeZone":           "UTC",
	"bytea_output":       "hex",
	"extra_float_digits": "1",
	"lc_monetary":        "C",
	"xmlbinary":          "base64",
}

// plain overrides, for versions, settings of a database that could stop a statement, change its
// role, or change the written form of values.
var plain = map[string]string{
	"role":                                "none",
	"statement_timeout":                   "0",
	"lock_timeout":                        "0",
	"idle_in_transaction_session_timeout": "0",
	"array_nulls":                         "on",
	"transform_null_equals":               "off",
	"quote_all_identifiers":               "off",
}

// plainOptions are the same settings for a program (PGOPTIONS; PostgreSQL manual, 34.15).
func plainOptions() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		b.WriteString("-c " + name + "=" + plain[name] + " ")
	}
	return b.String()
}

const (
	connectTimeout = 10 * time.Second
	// cancelGrace is how long a server may take to cancel a statement.
	cancelGrace = 3 * time.Second
)

// parse parses a DSN without reading other sources. Errors contain no secrets.
func parse(dsn string) (*pgx.ConnConfig, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		var e *pgconn.ParseConfigError
		if errors.As(err, &e) {
			return nil, fmt.Errorf("dsn: expected postgres://user:password@host:port/name or key=value pairs (PostgreSQL manual, 34.1.1)")
		}
		return nil, err
	}
	c.RuntimeParams = maps.Clone(settings)
	c.OnNotice = nil
	c.ConnectTimeout = connectTimeout
	c.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelGrace}
	}
	return c, nil
}

func connect(ctx context.Context, c *pgx.ConnConfig, as purpose) (*connection, error) {
	if c = c.Copy(); as != forTools {
		maps.Copy(c.RuntimeParams, plain)
	}
	copies := &copyWatch{}
	c.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		*copies = copyWatch{r: r, w: w}
		return pgproto3.NewFrontend(copies, w)
	}
	p, err := pgconn.ConnectConfig(ctx, &c.Config)
	if err != nil {
		return nil, err
	}
	return &connection{p, copies}, nil
}

// end closes a connection, even if ctx is cancelled.
func (c *connection) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancel()
	return c.Close(ctx)
}

// do runs statements and discards their results.
func (c *connection) do(ctx context.Context, sql string) error {
	return c.Exec(ctx, sql).Close()
}

// each runs a statement and calls fn for each row with its columns as text; nil stands for NULL.
func (c *connection) each(ctx context.Context, sql string, args []string, fn func(row [][]byte)) error {
	values := make([][]byte, len(args))
	for i, a := range args {
		values[i] = []byte(a)
	}
	r := c.ExecParams(ctx, sql, values, nil, nil, nil)
	for r.NextRow() {
		fn(r.Values())
	}
	_, err := r.Close()
	return err
}

// rows runs a statement and returns its rows, "" for NULL.
func (c *connection) rows(ctx context.Context, sql string, args ...string) (rows [][]string, err error) {
	err = c.each(ctx, sql, args, func(row [][]byte) {
		texts := make([]string, len(row))
		for i, column := range row {
			texts[i] = string(column)
		}
		rows = append(rows, texts)
	})
	return rows, err
}

// list runs a statement and returns the first column of its rows.
func (c *connection) list(ctx context.Context, sql string, args ...string) (list []string, err error) {
	rows, err := c.rows(ctx, sql, args...)
	for _, row := range rows {
		list = append(list, row[0])
	}
	return list, err
}

// value runs a statement that returns a single value.
func (c *connection) value(ctx context.Context, sql string, args ...string) (string, error) {
	list, err := c.list(ctx, sql, args...)
	return strings.Join(list, ""), err
}

// transaction calls fill in a transaction that can write. If it fails, the end of the connection rolls back.
func (c *connection) transaction(ctx context.Context, fill func() error) error {
	if err := c.do(ctx, "BEGIN READ WRITE"); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return err
	}
	return c.do(ctx, "COMMIT")
}

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
	return domarkx.NewToolError(domarkx.CodeInvalid, "COPY … TO STDOUT returns nothing here; use the tool query. The other statements of this call took effect")
}
