package checkout

import (
	"errors"
	"os"
)

// lockDirectory is not supported on Windows.
func lockDirectory(string) (*os.File, error) { return nil, errors.ErrUnsupported }
