package postgres

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

func openServer(context.Context, domarkx.Env) (store, error) {
	return nil, fmt.Errorf("private PostgreSQL servers are for Linux and macOS; name a database with dsn: %w", domarkx.ErrUnsupported)
}
