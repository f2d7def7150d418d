package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// spoolSize is the maximum number of bytes of standard input that stay in memory.
const spoolSize = 1 << 20

// A spool holds the whole of standard input: in memory, or in a temporary file if it is large.
type spool struct {
	*io.SectionReader
	file  *os.File // nil if the input is in memory
	named bool     // the file still has a name in its directory
}

// close removes the temporary file.
func (s *spool) close() error {
	if s == nil || s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// spoolInput reads standard input to its end. It returns early when the command is cancelled.
func (inv *invocation) spoolInput() (*spool, error) {
	return await(inv.ctx, func() (*spool, error) {
		s, err := newSpool(inv.in)
		if inv.ctx.Err() != nil { // nobody waits for it any more
			return nil, errors.Join(context.Cause(inv.ctx), s.close())
		}
		return s, err
	})
}

func newSpool(in io.Reader) (*spool, error) {
	head, err := io.ReadAll(io.LimitReader(in, spoolSize+1))
	if err != nil {
		return nil, err
	}
	if len(head) <= spoolSize {
		return &spool{SectionReader: io.NewSectionReader(bytes.NewReader(head), 0, int64(len(head)))}, nil
	}
	f, err := os.CreateTemp("", "git-domarkx-input-")
	if err != nil {
		return nil, err
	}
	named := os.Remove(f.Name()) != nil // without a name, the file disappears even if the program is killed; some systems cannot remove open files
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(head), in))
	s := &spool{io.NewSectionReader(f, 0, n), f, named}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}
