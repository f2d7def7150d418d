// Package output makes the result of a tool from what a command wrote: the
// beginning stands in the result, the whole is an attachment when it is long.
package toolresult

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// Limit is how many bytes of output stand in a result.
const Limit = 1 << 20

// A Spool takes the output of a command: what is over the [Limit] goes to a file,
// so that memory use does not depend on the size. It is not for several goroutines
// at once.
type Spool struct {
	dir  string
	head []byte
	size int64
	file *os.File // all of the output, once it is over the limit
}

// NewSpool makes a spool whose file is in dir, "" for the system's place.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

func (s *Spool) Write(p []byte) (int, error) {
	if s.file == nil && len(s.head)+len(p) <= Limit {
		s.head = append(s.head, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, ".output-*")
		if err != nil {
			return 0, fmt.Errorf("keep a command's output: %w", err)
		}
		// The open file is all that is left of it, also when the program is killed; where
		// open files cannot be removed, Close does it.
		_ = os.Remove(f.Name())
		s.file = f
		if _, err := f.Write(s.head); err != nil {
			return 0, fmt.Errorf("keep a command's output: %w", err)
		}
		s.head = append(s.head, p[:Limit-len(s.head)]...)
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("keep a command's output: %w", err)
	}
	return n, nil
}

// Close gives the output up.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return closeAndRemove(f)
}

// A Status is how a command ended.
type Status struct {
	ExitCode int  // 128+N after signal N
	TimedOut bool // its time ran out; the exit code is then -1
}

// Result is what a tool such as run_command returns: exit_code and output, as
// output_base64 when it is not UTF-8, and of a long one the beginning, with the
// number of bytes of the whole and that as the attachment. The spool is the
// result's.
func (s *Spool) Result(status Status) (domarkx.Result, error) {
	members := []domarkx.Member{{Name: "exit_code", Value: domarkx.NumberValue(strconv.Itoa(status.ExitCode))}}
	if status.TimedOut {
		members[0].Value = domarkx.NumberValue("-1")
	}
	text := s.head
	if s.file != nil {
		text = wholeRunes(text)
	}
	if utf8.Valid(text) {
		members = append(members, domarkx.Member{Name: "output", Value: domarkx.StringValue(string(text))})
	} else {
		encoded := base64.StdEncoding.EncodeToString(s.head)
		members = append(members, domarkx.Member{Name: "output_base64", Value: domarkx.StringValue(encoded)})
	}
	if status.TimedOut {
		members = append(members, domarkx.Member{Name: "timed_out", Value: domarkx.BoolValue(true)})
	}
	var result domarkx.Result
	if s.file != nil {
		members = append(members, domarkx.Member{Name: "truncated", Value: domarkx.BoolValue(true)},
			domarkx.Member{Name: "bytes", Value: domarkx.NumberValue(strconv.FormatInt(s.size, 10))})
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return domarkx.Result{}, errors.Join(err, s.Close())
		}
		result.Attachment = attachment{s.file}
		s.file = nil
	}
	result.Value = domarkx.ObjectValue(members...)
	return result, nil
}

type attachment struct{ *os.File }

func (a attachment) Close() error { return closeAndRemove(a.File) }

func closeAndRemove(f *os.File) error {
	err := f.Close()
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// wholeRunes leaves out a last code point of which only the beginning is there.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return bytes.Clone(b[:len(b)-i])
			}
			break
		}
	}
	return b
}
