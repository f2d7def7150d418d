//go:build !linux

package agents

import (
	"errors"
	"fmt"
	"os"
)

func openUnnamed(string) (*os.File, error) {
	return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
}

func linkUnnamed(*os.File, string) error { return errors.ErrUnsupported }
