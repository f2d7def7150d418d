package edit

import (
	"fmt"
)

// Warnings returns a warning for each version that could not be linked. path is the document.
func (s *StatedLinks) Warnings(path string) []error {
	if s == nil {
		return nil
	}
	all := make([]error, len(s.missing))
	for i, err := range s.missing {
		all[i] = fmt.Errorf("%s: %w", path, err)
	}
	return all
}
