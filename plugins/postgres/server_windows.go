package postgres

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

func openServer(domarkx.Env) (store, error) {
	return nil, fmt.Errorf("private PostgreSQL servers are for Linux and macOS; name a database with dsn: %w", domarkx.ErrUnsupported)
}
