package checkout

import (
	"errors"
	"os"
)

// lockFolder is not supported on Windows.
func lockFolder(string) (*os.File, error) { return nil, errors.ErrUnsupported }
