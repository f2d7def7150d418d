package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// spoolSize is how much of standard input is held in memory, in bytes.
const spoolSize = 1 << 20

// A spool is standard input that was read to its end: in memory, or when there is much of
// it in a temporary file.
type spool struct {
	*io.SectionReader
	file  *os.File // nil for none
	named bool     // whether the file is still in its folder
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

// spoolInput reads standard input to its end, or until the command is ended.
func (inv *invocation) spoolInput() (*spool, error) {
	type result struct {
		spool *spool
		err   error
	}
	done := make(chan result, 1)
	go func() {
		s, err := newSpool(inv.in)
		done <- result{s, err}
	}()
	select {
	case r := <-done:
		return r.spool, r.err
	case <-inv.ctx.Done():
		go func() { (<-done).spool.close() }() // if the input ends before the program does
		return nil, context.Cause(inv.ctx)
	}
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
	named := os.Remove(f.Name()) != nil // a kill leaves nothing, but where open files cannot be removed
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(head), in))
	s := &spool{io.NewSectionReader(f, 0, n), f, named}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}
