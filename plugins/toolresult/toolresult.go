// Package toolresult converts the output of a command to the result of a tool: the result
// contains the beginning, and an attachment contains the complete output if it is long.
package toolresult

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Limit bounds the output in a result, in bytes.
const Limit = 1 << 20

// A Spool collects the output of a command. Output over the [Limit] goes to a file, so that
// memory use does not depend on the size. It is not safe for concurrent use.
type Spool struct {
	dir  string
	head []byte
	size int64
	file *os.File // the complete output, once it is over the limit
}

// NewSpool returns a spool whose file is created in dir, "" for the system's default.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// Write keeps output in memory up to [Limit] bytes, and all of it in a file once there is more.
func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.head)+len(p) <= Limit {
		s.head = append(s.head, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	n, err := s.writeFile(p)
	s.size += int64(n)
	if err != nil {
		err = fmt.Errorf("keep a command's output: %w", err)
	}
	return n, err
}

func (s *Spool) writeFile(p []byte) (int, error) {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, ".output-*")
		if err != nil {
			return 0, err
		}
		// Removed at once, so that nothing is left after a kill; where open files cannot be
		// removed, Close does it.
		_ = os.Remove(f.Name())
		s.file = f
		if _, err := f.Write(s.head); err != nil {
			return 0, err
		}
		s.head = append(s.head, p[:Limit-len(s.head)]...)
	}
	return s.file.Write(p)
}

// Close discards the output.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return attachment{f}.Close()
}

// A Status is the result of running a command.
type Status struct {
	ExitCode int    // 128+N after signal N
	TimedOut bool   // the timeout passed; the exit code is then -1
	Over     string // the limit that the command was over, such as "more than 50 processes"; "" for none
}

// Result returns the result of a tool such as run_command: exit_code and output, or
// output_base64 if the output is not UTF-8. For a long output it contains the beginning, the
// number of bytes and an attachment. The spool must not be used afterwards.
func (s *Spool) Result(status Status) (domarkx.Result, error) {
	members := []any{"exit_code", status.ExitCode}
	if status.TimedOut {
		members[1] = -1
	}
	text := s.head
	if s.file != nil {
		text = WholeRunes(text)
	}
	if utf8.Valid(text) {
		members = append(members, "output", string(text))
	} else {
		members = append(members, "output_base64", base64.StdEncoding.EncodeToString(s.head))
	}
	if status.TimedOut {
		members = append(members, "timed_out", true)
	}
	if status.Over != "" {
		members = append(members, "limit_exceeded", status.Over)
	}
	if s.file != nil {
		members = append(members, "truncated", true, "bytes", s.size)
	}
	whole, err := s.Attachment()
	if err != nil {
		return domarkx.Result{}, err
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf(members...), Attachment: whole}, nil
}

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

type attachment struct{ *os.File }

func (a attachment) Close() error {
	err := a.File.Close()
	if removed := os.Remove(a.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// WholeRunes removes an incomplete code point from the end.
func WholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
