package plugintest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// Memory is a store of versions in memory: a [plugins.Versions] that checks whether callers
// follow the contracts of [domarkx.VersionWriter] and [domarkx.VersionReader].
type Memory struct {
	mu          sync.Mutex
	contents    map[string][]byte
	directories map[string][]domarkx.File
	tops        map[string]domarkx.File

	open, stored, parts atomic.Int64 // contents that are not closed, that were written, and that were written in parts
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{contents: map[string][]byte{}, directories: map[string][]domarkx.File{}, tops: map[string]domarkx.File{}}
}

// Begin starts a version.
func (m *Memory) Begin(_ context.Context, base string) (plugins.Pending, error) {
	return &MemoryVersion{m: m, base: base, files: map[string]domarkx.File{}}, nil
}

// CheckVersion accepts every version: those in memory cannot be corrupt.
func (m *Memory) CheckVersion(context.Context, string, string) error { return nil }

// Forget drops the contents of all files, as if they had been pruned.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.contents)
}

// Stored returns how many contents were written so far, counting repetitions.
func (m *Memory) Stored() int { return int(m.stored.Load()) }

// Parts returns how many contents were written in parts so far, counting repetitions.
func (m *Memory) Parts() int { return int(m.parts.Load()) }

// Open returns how many contents are not closed.
func (m *Memory) Open() int { return int(m.open.Load()) }

// get returns the value of an id in one of the maps.
func get[T any](m *Memory, of map[string]T, what, id string) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := of[id]
	if !ok {
		return v, fmt.Errorf("%s %q: %w", what, id, domarkx.ErrNotFound)
	}
	return v, nil
}

// put adds something to one of the maps and returns its id.
func put[T any](m *Memory, to map[string]T, id string, v T) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	to[id] = v
	return id
}

// Top returns the top directory of a version.
func (m *Memory) Top(_ context.Context, version string) (domarkx.File, error) {
	return get(m, m.tops, "version", version)
}

// Directory returns the files of a directory.
func (m *Memory) Directory(_ context.Context, id string) ([]domarkx.File, error) {
	files, err := get(m, m.directories, "directory", id)
	return slices.Clone(files), err
}

// Content opens a content.
func (m *Memory) Content(_ context.Context, id string) (domarkx.Content, error) {
	data, err := get(m, m.contents, "content", id)
	if err != nil {
		return nil, err
	}
	m.open.Add(1)
	return &content{Reader: bytes.NewReader(data), m: m}, nil
}

type content struct {
	*bytes.Reader
	m    *Memory
	once sync.Once
}

func (c *content) Close() error {
	c.once.Do(func() { c.m.open.Add(-1) })
	return nil
}

// MemoryVersion is a version that is being written.
type MemoryVersion struct {
	m     *Memory
	base  string
	mu    sync.Mutex
	kept  int
	files map[string]domarkx.File
	paths []string // in the order of Add
}

// Content stores the content of a file.
func (v *MemoryVersion) Content(ctx context.Context, r io.Reader) (string, int64, error) {
	data, err := readContent(ctx, r)
	if err != nil {
		return "", 0, err
	}
	return v.m.keep("", data, &v.m.stored), int64(len(data)), nil
}

// ContentInParts stores the content of a file: see [domarkx.PartWriter].
func (v *MemoryVersion) ContentInParts(ctx context.Context, r io.Reader) (string, int64, error) {
	data, err := readContent(ctx, r)
	if err != nil {
		return "", 0, err
	}
	return v.m.keep("parts ", data, &v.m.parts), int64(len(data)), nil
}

func readContent(ctx context.Context, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(r)
	return data, cmp.Or(err, ctx.Err())
}

// keep counts a content and returns its id.
func (m *Memory) keep(kind string, data []byte, count *atomic.Int64) string {
	count.Add(1)
	sum := sha256.Sum256(data)
	return put(m, m.contents, kind+hex.EncodeToString(sum[:]), data)
}

// Add adds a file.
func (v *MemoryVersion) Add(_ context.Context, path string, f domarkx.File) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.check(path, f); err != nil {
		return fmt.Errorf("adding %q: %w", path, err)
	}
	f.Name = path[strings.LastIndexByte(path, '/')+1:]
	v.files[path] = f
	v.paths = append(v.paths, path)
	return nil
}

// Keep adds a directory of the base, unless a content in it was forgotten.
func (v *MemoryVersion) Keep(ctx context.Context, path string, f domarkx.File) error {
	files := map[string]domarkx.File{}
	var paths []string
	if v.base != "" {
		err := domarkx.WalkVersion(ctx, v.m, v.base, func(at string, f domarkx.File) error {
			if !strings.HasPrefix(at, path+"/") {
				return nil
			}
			data, err := get(v.m, v.m.contents, "content", f.ID)
			if f.Type == domarkx.Symlink {
				f.Target = string(data)
			}
			if f.Type == domarkx.Regular && err != nil || f.HardLink != "" {
				return fmt.Errorf("%q: %w", at, domarkx.ErrNotFound)
			}
			files[at], paths = f, append(paths, at)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return fmt.Errorf("directory %q of the base: %w", path, domarkx.ErrNotFound)
	}
	if err := v.Add(ctx, path, f); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.Copy(v.files, files)
	v.paths = append(v.paths, paths...)
	v.kept++
	return nil
}

// Kept returns how many directories of the base were reused.
func (v *MemoryVersion) Kept() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kept
}

// check returns an error if the caller violates the contract of Add.
func (v *MemoryVersion) check(path string, f domarkx.File) error {
	if _, ok := v.files[path]; ok {
		return fmt.Errorf("added twice: %w", domarkx.ErrInvalid)
	}
	if f.Mode&^0o7777 != 0 || f.Type < domarkx.Regular || f.Type > domarkx.BlockDevice {
		return fmt.Errorf("mode %o, %v: %w", f.Mode, f.Type, domarkx.ErrInvalid)
	}
	if !slices.IsSortedFunc(f.Xattrs, func(a, b domarkx.Xattr) int { return strings.Compare(a.Name, b.Name) }) {
		return fmt.Errorf("extended attributes are not sorted: %w", domarkx.ErrInvalid)
	}
	if path == "" {
		if len(v.paths) > 0 || f.Type != domarkx.Directory {
			return fmt.Errorf("expected the top directory first: %w", domarkx.ErrInvalid)
		}
		return nil
	}
	if err := v.checkOrder(path); err != nil {
		return err
	}
	if f.HardLink != "" {
		first, ok := v.files[f.HardLink]
		if !ok || first.Type != f.Type || first.Mode != f.Mode || first.ID != f.ID || first.Size != f.Size {
			return fmt.Errorf("is not a hard link to an earlier file %q: %w", f.HardLink, domarkx.ErrInvalid)
		}
	}
	if f.Type == domarkx.Symlink && (f.Target == "" || strings.Contains(f.Target, "\x00")) {
		return fmt.Errorf("target %q: %w", f.Target, domarkx.ErrInvalid)
	}
	if f.Type != domarkx.Regular {
		return nil
	}
	data, err := get(v.m, v.m.contents, "content", f.ID)
	if err != nil {
		return err
	}
	if int64(len(data)) != f.Size {
		return fmt.Errorf("size %d, its content has %d: %w", f.Size, len(data), domarkx.ErrInvalid)
	}
	return nil
}

// checkOrder returns an error unless paths come in depth-first order.
func (v *MemoryVersion) checkOrder(path string) error {
	if len(v.paths) == 0 {
		return fmt.Errorf("the top directory must come first: %w", domarkx.ErrInvalid)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "\x00") {
			return fmt.Errorf("name %q: %w", name, domarkx.ErrInvalid)
		}
	}
	directory := directoryOf(path)
	if parent, ok := v.files[directory]; !ok || parent.Type != domarkx.Directory {
		return fmt.Errorf("its directory %q was not added before: %w", directory, domarkx.ErrInvalid)
	}
	last := v.paths[len(v.paths)-1]
	if directory != "" && last != directory && !strings.HasPrefix(last, directory+"/") {
		return fmt.Errorf("its directory %q was completed before: %w", directory, domarkx.ErrInvalid)
	}
	return nil
}

// directoryOf returns the path of the directory that a file is in.
func directoryOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// Finish stores the version.
func (v *MemoryVersion) Finish(context.Context) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.paths) == 0 {
		v.files[""] = domarkx.File{Type: domarkx.Directory, Mode: 0o755}
		v.paths = []string{""}
	}
	below := map[string][]domarkx.File{}
	for _, path := range slices.Backward(v.paths) {
		f := v.files[path]
		switch f.Type {
		case domarkx.Symlink:
			f.ID, f.Target = v.m.keep("", []byte(f.Target), &v.m.stored), ""
		case domarkx.Directory:
			files := below[path]
			slices.SortFunc(files, func(a, b domarkx.File) int { return strings.Compare(a.Name, b.Name) })
			f.ID = put(v.m, v.m.directories, identify("directory %#v", files), files)
		}
		if path == "" {
			return put(v.m, v.m.tops, identify("top %#v", f), f), nil
		}
		directory := directoryOf(path)
		below[directory] = append(below[directory], f)
	}
	panic("no top directory")
}

func identify(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:])
}

// Settle does nothing.
func (v *MemoryVersion) Settle() error { return nil }

// Abort does nothing.
func (v *MemoryVersion) Abort() {}
