//go:build !linux

package covertest

import "errors"

// findable is of Linux alone.
func findable(string) error { return errors.ErrUnsupported }
