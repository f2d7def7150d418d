// Package folder keeps generated pages in a directory, among files of others.
//
// A page ends with a seal: a comment with what the page was made from and a digest of its path and content. So the pages that
// this program wrote are known without a list of them that could be lost or wrong: no file without a valid seal is replaced or
// removed. A file other than a page has the digest of its content as its name, which says the same.
package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A Folder is a directory with pages. Paths in it are relative and have slashes. It is for one goroutine.
type Folder struct {
	dir string
	// Written and Removed count the files that were.
	Written, Removed int
}

// Open returns the folder at dir, which need not exist.
func Open(dir string) *Folder { return &Folder{dir: dir} }

// A ForeignError reports a file that is in the place of a page and was not written as one, or was changed since.
type ForeignError struct{ Path string }

// Error says what to do.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%q is not a page that this program wrote, or was changed since; move it away, or write to another directory", e.Path)
}

func (f *Folder) at(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// sealed is a seal: the state, which has no space, and the digest.
var sealed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<!-- git-domarkx ([0-9a-z.]*) ([0-9a-f]{64}) -->\n$`)
})

const maxSeal = 256 // bytes

func seal(name string, content []byte, state string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00", name, state)
	sum.Write(content)
	return fmt.Sprintf("<!-- git-domarkx %s %x -->\n", state, sum.Sum(nil))
}

// State returns the state that a page was written with; "" for a page that does not exist. It reads only the end of the page.
func (f *Folder) State(name string) string {
	file, err := os.Open(f.at(name))
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	end := make([]byte, min(info.Size(), maxSeal))
	if _, err := file.ReadAt(end, info.Size()-int64(len(end))); err != nil && err != io.EOF {
		return ""
	}
	if m := sealed().FindSubmatch(end); m != nil {
		return string(m[1])
	}
	return ""
}

// isOwn reports whether the content of a page has the seal of that path.
func isOwn(name string, page []byte) bool {
	m := sealed().FindSubmatchIndex(page[max(0, len(page)-maxSeal):])
	if m == nil {
		return false
	}
	from := max(0, len(page)-maxSeal)
	return seal(name, page[:from+m[0]], string(page[from+m[2]:from+m[3]])) == string(page[from+m[0]:])
}

// Check returns a [*ForeignError] if a page cannot be written, because there is a file of others.
func (f *Folder) Check(name string) error {
	old, err := f.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !isOwn(name, old) {
		err = &ForeignError{f.at(name)}
	}
	return err
}

// Page writes a page with a state, made of digits, lower-case letters and dots. A page with the same
// content is left as it is. The error is a [*ForeignError] if the file there was written by others.
func (f *Folder) Page(name string, content []byte, state string) error {
	page := append(content, seal(name, content, state)...)
	old, err := f.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = f.mkdir(path.Dir(name))
	case err == nil && bytes.Equal(old, page):
		return nil
	case err == nil && !isOwn(name, old):
		err = &ForeignError{f.at(name)}
	}
	if err != nil {
		return err
	}
	return f.write(name, bytes.NewReader(page))
}

// read returns the content of a regular file.
func (f *Folder) read(name string) ([]byte, error) {
	info, err := os.Lstat(f.at(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &ForeignError{f.at(name)}
	}
	return os.ReadFile(f.at(name))
}

// Attach writes a file that is named after the digest of its content, as [Name] does, unless it is there.
func (f *Folder) Attach(name string, content io.Reader) error {
	if !isNamed(path.Base(name)) {
		return fmt.Errorf("%q is not named after its content", name)
	}
	info, err := os.Lstat(f.at(name))
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &ForeignError{f.at(name)}
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := f.mkdir(path.Dir(name)); err != nil {
		return err
	}
	return f.write(name, content)
}

// named is the name of a file with the digest of its content.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{64})\.[a-z]+$`) })

func isNamed(base string) bool { return named().MatchString(base) }

// mkdir creates a directory of the folder. It follows no symbolic link, which may lead elsewhere.
func (f *Folder) mkdir(name string) error {
	if name == "." {
		return atomicfile.MkdirAll(f.dir, 0o755)
	}
	if err := f.mkdir(path.Dir(name)); err != nil {
		return err
	}
	info, err := os.Lstat(f.at(name))
	switch {
	case err == nil && !info.IsDir():
		return &ForeignError{f.at(name)}
	case errors.Is(err, fs.ErrNotExist):
		return atomicfile.MkdirAll(f.at(name), 0o755)
	}
	return err
}

func (f *Folder) write(name string, content io.Reader) error {
	file, err := atomicfile.Create(f.at(name), 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", f.at(name), err), file.Abort())
	}
	f.Written++
	return file.Commit()
}

// Files returns the names of the pages and attached files that a directory may have of this program.
func (f *Folder) Files(dir string) ([]string, error) {
	entries, err := os.ReadDir(f.at(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && (strings.HasSuffix(e.Name(), ".html") || isNamed(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Dirs returns the names of the directories in a directory.
func (f *Folder) Dirs(dir string) ([]string, error) {
	info, err := os.Lstat(f.at(dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	entries, err := os.ReadDir(f.at(dir))
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Sweep removes the files of a directory that this program wrote, except those to keep, and the directory if nothing remains.
func (f *Folder) Sweep(dir string, keep map[string]bool) error {
	names, err := f.Files(dir)
	if err != nil {
		return err
	}
	removed := f.Removed
	for _, base := range names {
		name := path.Join(dir, base)
		if keep[name] {
			continue
		}
		own, err := f.owns(name)
		if err != nil {
			return err
		}
		if own {
			if err := atomicfile.Remove(f.at(name)); err != nil {
				return err
			}
			f.Removed++
		}
	}
	if f.Removed > removed && dir != "." {
		_ = os.Remove(f.at(dir)) // fails if it has files of others
	}
	return nil
}

func (f *Folder) owns(name string) (bool, error) {
	m := named().FindStringSubmatch(path.Base(name))
	if m == nil {
		page, err := os.ReadFile(f.at(name))
		return err == nil && isOwn(name, page), err
	}
	file, err := os.Open(f.at(name))
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)) == m[1], err
}

// simple is a component of a name that means the same in URLs and on every file system.
var simple = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`) })

// device is a name that Windows keeps for devices, with any extension.
var device = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|~|$)`) })

// maxName is the maximum length of a file name, in bytes.
const maxName = 120

// Name returns a file name for a name that anybody may have chosen: of a session, an agent or a tag. It has only characters that
// need no escape in URLs, differs from the results for other names in more than case, and is at most 120 bytes long. A simple
// name keeps its form, with "~" for "/". Of another one, what can be kept is followed by "~~" and a digest.
func Name(name string) string {
	flat := strings.ReplaceAll(name, "/", "~")
	isSimple := len(name) <= maxName && !device().MatchString(flat)
	for part := range strings.SplitSeq(name, "/") {
		isSimple = isSimple && simple().MatchString(part)
	}
	if isSimple {
		return flat
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == 60 {
			break
		}
	}
	return fmt.Sprintf("%s~~%.16x", strings.TrimSuffix(b.String(), "-"), sha256.Sum256([]byte(name)))
}
