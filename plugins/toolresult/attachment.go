package toolresult

import (
	"errors"
	"io"
)

// Attachment is the whole of what was written, once that is over the [Limit]; nil
// before. The spool is then the attachment's.
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
