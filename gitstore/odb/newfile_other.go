//go:build !linux

package odb

import (
	"errors"
	"os"
)

// openUnnamed is of Linux alone.
func openUnnamed(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
