package agents

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// maxSearch is how many bytes of a transcript are searched for the directory in which it
// began. Agents state it in their first records, but long prompts may come before.
const maxSearch = 4 << 20

// stated returns a function that returns the first working directory in the records of a transcript,
// which is at a path of member names there.
func stated(path ...string) func(Environment, []string, string) (string, bool) {
	return func(_ Environment, _ []string, file string) (dir string, ok bool) {
		f, err := os.Open(file)
		if err != nil {
			return "", false
		}
		defer f.Close()
		var input io.Reader = f
		if strings.HasSuffix(file, ".zst") {
			unpacked, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
			if err != nil {
				return "", false
			}
			defer unpacked.Close()
			input = unpacked
		}
		lines := bufio.NewReaderSize(io.LimitReader(input, maxSearch), 16<<10)
		for {
			line, err := lines.ReadBytes('\n')
			if dir := workDir(line, path); dir != "" {
				return dir, true
			}
			if err != nil {
				return "", false
			}
		}
	}
}

// workDir returns the absolute directory that a line states, or "".
func workDir(line []byte, path []string) string {
	if !bytes.Contains(line, []byte(`"cwd"`)) {
		return ""
	}
	v, err := jsonvalue.ParseValue(line)
	if dir := transcript.Text(v, path...); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// firstBelow returns the name of the first directory between a directory and a file in it.
func firstBelow(dir, file string) (string, bool) {
	rel, err := filepath.Rel(dir, file)
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return first, err == nil
}

// ReadRegular reads a regular file of at most that many bytes.
func ReadRegular(path string, most int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s: expected a regular file of at most %d bytes", path, most)
	}
	return os.ReadFile(path)
}

// maxNote is how many bytes a file has at most in which an agent notes something about sessions.
const maxNote = 64 << 10
