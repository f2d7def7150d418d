//go:build !unix

package postgres

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
)

// DoNotSync does nothing.
func DoNotSync() {}

// PlaceServers does nothing.
func PlaceServers(string) {}

// Plant fails: private servers are for other systems.
func Plant(context.Context, string, string) error { return domarkx.ErrUnsupported }
