package directory

import (
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// Limits of results and of the files read for them.
const (
	maxContent    = 1 << 20  // bytes of a file in a result; longer content is in the attachment
	maxAttachment = 1 << 30  // bytes of a file that can be read
	maxEdited     = 64 << 20 // bytes of a file that can be edited
	maxEntries    = 20_000   // entries of a directory in a result
)

// open opens a regular file. It does not block on a FIFO.
func open(root *Files, path string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(path)
	if err == nil {
		err = mustBe(path, info, "file")
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = mustBe(path, info, "file")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// mustBe returns an error for a file that is not of the expected type.
func mustBe(path string, info fs.FileInfo, expected string) error {
	if now := kind(info.Mode()); now != expected {
		return domarkx.NewToolError(domarkx.CodeInvalid, "%q is a %s, expected a %s", filepath.ToSlash(path), now, expected)
	}
	return nil
}

// kind returns the name of a file type.
func kind(mode fs.FileMode) string {
	return cmp.Or(map[fs.FileMode]string{
		0: "file", fs.ModeDir: "directory", fs.ModeSymlink: "symlink", fs.ModeNamedPipe: "fifo", fs.ModeSocket: "socket",
	}[mode.Type()], "device")
}

func readFile(_ context.Context, root *Files, path string, _ jsonvalue.Value) (domarkx.Result, error) {
	f, info, err := open(root, path)
	if err != nil {
		return domarkx.Result{}, err
	}
	var head []byte
	if err = mustFit(path, info, maxAttachment); err == nil {
		head, err = io.ReadAll(io.LimitReader(f, maxContent+1))
	}
	if err != nil || len(head) <= maxContent {
		f.Close()
		return result(named("content", string(head))...), err
	}
	content := named("content", string(toolresult.WholeRunes(head[:maxContent])))
	r := result(append(content, "truncated", true, "bytes", info.Size())...)
	r.Attachment = attachment{io.NewSectionReader(f, 0, info.Size()), f}
	return r, nil
}

// mustFit returns an error for a file with more bytes than most.
func mustFit(path string, info fs.FileInfo, most int64) error {
	if info.Size() > most {
		return domarkx.NewToolError(domarkx.CodeRefused, "%q has %d bytes, expected at most %d", filepath.ToSlash(path), info.Size(), most)
	}
	return nil
}

// An attachment is a file, read up to the size that it had when it was opened.
type attachment struct {
	io.Reader
	io.Closer
}

func listDir(ctx context.Context, root *Files, path string, _ jsonvalue.Value) (domarkx.Result, error) {
	names, err := namesIn(root, path)
	if err != nil {
		return domarkx.Result{}, err
	}
	var entries []jsonvalue.Value
	for _, name := range names[:min(len(names), maxEntries)] {
		if err := ctx.Err(); err != nil {
			return domarkx.Result{}, err
		}
		info, err := root.Lstat(filepath.Join(path, name))
		if err != nil {
			continue // removed meanwhile
		}
		members := append(named("name", name), "type", kind(info.Mode()))
		if info.Mode().IsRegular() {
			members = append(members, "size", info.Size())
		}
		if info.Mode().Type() == fs.ModeSymlink {
			if target, err := root.Readlink(filepath.Join(path, name)); err == nil {
				members = append(members, named("target", target)...)
			}
		}
		entries = append(entries, jsonvalue.ObjectOf(members...))
	}
	r := []any{"entries", jsonvalue.ArrayValue(entries...)}
	if len(names) > maxEntries {
		r = append(r, "truncated", true, "count", len(names))
	}
	return result(r...), nil
}

// named returns a member with a text, in base64 if it is not UTF-8.
func named(name, s string) []any {
	if utf8.ValidString(s) {
		return []any{name, s}
	}
	return []any{name + "_base64", base64.StdEncoding.EncodeToString([]byte(s))}
}

// namesIn returns the names in a directory, sorted by bytes.
func namesIn(root *Files, path string) ([]string, error) {
	info, err := root.Stat(path)
	if err == nil {
		err = mustBe(path, info, "directory")
	}
	if err != nil {
		return nil, err
	}
	d, err := root.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if len(root.hidden) > 0 {
		real := root.resolve(path, true)
		names = slices.DeleteFunc(names, func(name string) bool { return root.hides(filepath.Join(real, name)) })
	}
	slices.SortFunc(names, strings.Compare)
	return names, err
}
