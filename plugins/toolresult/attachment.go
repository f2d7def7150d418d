package toolresult

import (
	"errors"
	"io"
)

// Attachment returns the complete output if it is over the [Limit], nil otherwise. The caller
// must close it.
func (s *Spool) Attachment() (io.ReadCloser, error) {
	if s.file == nil {
		return nil, nil
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	f := s.file
	s.file = nil
	return attachment{f}, nil
}
