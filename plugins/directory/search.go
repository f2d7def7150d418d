package directory

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// Limits of a search.
const (
	maxMatches = 1000
	maxLine    = 1000     // bytes of a line in a result
	maxLineLen = 16 << 20 // bytes of a line that are searched
	sniffed    = 8000     // bytes in which a NUL marks a file as binary
	maxDepth   = 1000     // depth of directories
)

// A searcher collects matching lines.
type searcher struct {
	root      *Files
	re        *regexp.Regexp
	matches   []jsonvalue.Value
	truncated bool
	binary    int // number of skipped files
}

func search(ctx context.Context, root *Files, path string, arguments jsonvalue.Value) (domarkx.Result, error) {
	re, err := regexp.Compile(text(arguments, "pattern"))
	if err != nil {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "pattern: %v", err)
	}
	info, err := root.Stat(path)
	if err != nil {
		return domarkx.Result{}, err
	}
	s := &searcher{root: root, re: re}
	if info.IsDir() {
		err = s.directory(ctx, path, 0)
	} else {
		err = s.file(ctx, path)
	}
	if err != nil {
		return domarkx.Result{}, err
	}
	r := []any{"matches", jsonvalue.ArrayValue(s.matches...)}
	if s.truncated {
		r = append(r, "truncated", true)
	}
	if s.binary > 0 {
		r = append(r, "binary_files_skipped", s.binary)
	}
	return result(r...), nil
}

// directory searches the files in a directory and below. It follows no symbolic links.
func (s *searcher) directory(ctx context.Context, path string, depth int) error {
	names, err := namesIn(s.root, path)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil || s.truncated {
			return err
		}
		at := filepath.Join(path, name)
		info, err := s.root.Lstat(at)
		if err != nil {
			continue // removed meanwhile
		}
		switch {
		case info.IsDir() && depth < maxDepth:
			err = s.directory(ctx, at, depth+1)
		case info.Mode().IsRegular():
			err = s.file(ctx, at)
		}
		if err != nil && !os.IsNotExist(err) && !os.IsPermission(err) {
			return err
		}
	}
	return nil
}

func (s *searcher) file(ctx context.Context, path string) error {
	f, _, err := open(s.root, path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if head, _ := r.Peek(sniffed); bytes.IndexByte(head, 0) >= 0 {
		s.binary++
		return nil
	}
	for n := 1; ; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := readLine(r)
		if len(line) > 0 || err == nil {
			if s.re.Match(line) && !s.add(path, n, line) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &fs.PathError{Op: "read", Path: path, Err: err}
		}
	}
}

// add adds a match, and reports whether the result has room for more.
func (s *searcher) add(path string, n int, line []byte) bool {
	if len(s.matches) == maxMatches {
		s.truncated = true
		return false
	}
	members := append(named("path", filepath.ToSlash(path)), "line", n)
	cut := len(line) > maxLine
	if cut {
		line = toolresult.WholeRunes(line[:maxLine])
	}
	members = append(members, "text", string(bytes.ToValidUTF8(line, []byte(string(utf8.RuneError)))))
	if cut {
		members = append(members, "text_truncated", true)
	}
	s.matches = append(s.matches, jsonvalue.ObjectOf(members...))
	return true
}

// readLine reads a line without its end, truncated if it is too long.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line) < maxLineLen {
			line = append(line, piece...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		return bytes.TrimSuffix(line, []byte("\r")), err
	}
}
