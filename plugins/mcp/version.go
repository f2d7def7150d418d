package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// The names in a version, and in the directory of the resource.
const (
	toolsName  = "tools.json"
	filesName  = "files"
	digestName = "tools.digest" // of the tools in the version last committed or loaded
	logName    = "log"          // only in the directory: what the program wrote to its standard error in its last run
)

// maxToolsFile bounds tools.json. The limits of tools keep it far below.
const maxToolsFile = 16 << 20

func (r *resource) in(name string) string { return filepath.Join(r.env.Dir, name) }

// recordedTools returns tools.json as recorded, nil if there is none.
func (r *resource) recordedTools() ([]byte, error) {
	data, err := os.ReadFile(r.in(toolsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// recordTools records what the server listed.
func (r *resource) recordTools(text []byte) error {
	before, err := r.recordedTools()
	if err != nil || bytes.Equal(before, text) {
		return err
	}
	return atomicfile.Replace(r.in(toolsName), text)
}

// toolsChanged reports whether the recorded tools differ from those of the version last committed
// or loaded.
func (r *resource) toolsChanged() (bool, error) {
	known, err := os.ReadFile(r.in(digestName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	text, err := r.recordedTools()
	return text == nil || string(known) != digest(text), err
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Changed reports whether the tools or the directory may differ from the version last committed or
// loaded.
func (r *resource) Changed(ctx context.Context) (bool, error) {
	if changed, err := r.toolsChanged(); changed || err != nil {
		return changed, err
	}
	return r.Resource.Changed(ctx)
}

// Commit writes the tools and the directory to w. It starts the server if it has never listed its
// tools.
func (r *resource) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	out, text, err := r.begin(ctx, w)
	if err != nil {
		return err
	}
	if err := r.Resource.Commit(ctx, out); err != nil {
		return err
	}
	return atomicfile.Replace(r.in(digestName), []byte(digest(text)))
}

// CommitChange commits the tools and the directory if they changed. See
// [domarkx.ChangeCommitter].
func (r *resource) CommitChange(ctx context.Context, begin func() (domarkx.VersionWriter, error)) (bool, error) {
	changed, err := r.toolsChanged()
	if err != nil {
		return false, err
	}
	if changed {
		w, err := begin()
		if err != nil {
			return true, err
		}
		return true, r.Commit(ctx, w)
	}
	return r.CommitIncrement(ctx, func() (domarkx.VersionWriter, error) {
		w, err := begin()
		if err != nil {
			return nil, err
		}
		out, _, err := r.begin(ctx, w)
		return out, err
	})
}

// begin writes everything but the directory to w. It returns the writer of the directory, and the
// tools.
func (r *resource) begin(ctx context.Context, w domarkx.VersionWriter) (domarkx.VersionWriter, []byte, error) {
	text, err := r.recordedTools()
	if err == nil && text == nil {
		if _, err = r.start(ctx); err == nil {
			text, err = r.recordedTools()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if err := w.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755}); err != nil {
		return nil, nil, err
	}
	id, size, err := w.Content(ctx, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if err := w.Add(ctx, toolsName, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}); err != nil {
		return nil, nil, err
	}
	keeper, _ := w.(domarkx.DirectoryKeeper)
	return filesWriter{w, keeper}, text, nil
}

// A filesWriter writes the directory below filesName.
type filesWriter struct {
	domarkx.VersionWriter
	keeper domarkx.DirectoryKeeper // nil if the writer cannot reuse directories
}

func (f filesWriter) Add(ctx context.Context, path string, file domarkx.File) error {
	if file.HardLink != "" {
		file.HardLink = below(file.HardLink)
	}
	return f.VersionWriter.Add(ctx, below(path), file)
}

func (f filesWriter) Keep(ctx context.Context, path string, file domarkx.File) error {
	if f.keeper == nil {
		return domarkx.ErrNotFound
	}
	return f.keeper.Keep(ctx, below(path), file)
}

// below returns the path in a version of a path in the directory.
func below(path string) string {
	if path == "" {
		return filesName
	}
	return filesName + "/" + path
}

// CheckVersion returns domarkx.ErrCorrupt for a version that no resource of this type commits. See
// [domarkx.VersionChecker].
func (Plugin) CheckVersion(ctx context.Context, r domarkx.VersionReader, version string) error {
	_, err := readVersion(ctx, r, version)
	return err
}

// readVersion checks a version and returns its tools.
func readVersion(ctx context.Context, r domarkx.VersionReader, version string) ([]byte, error) {
	corrupt := func(format string, args ...any) ([]byte, error) {
		return nil, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), domarkx.ErrCorrupt)
	}
	top, err := r.Top(ctx, version)
	if err != nil {
		return nil, err
	}
	files, err := r.Directory(ctx, top.ID)
	if err != nil {
		return nil, err
	}
	if len(files) != 2 || files[0].Name != filesName || files[0].Type != domarkx.Directory || files[1].Name != toolsName || files[1].Type != domarkx.Regular {
		return corrupt("the version has other files than %s and the directory %s", toolsName, filesName)
	}
	text, err := domarkx.ReadContent(ctx, r, files[1].ID, maxToolsFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", toolsName, err)
	}
	v, err := jsonvalue.ParseValue(text)
	if err != nil {
		return corrupt("%s: %v", toolsName, err)
	}
	if tools, _ := v.Get("tools"); tools.Kind() != jsonvalue.Array {
		return corrupt(`%s has no array "tools"`, toolsName)
	}
	return text, nil
}

// A filesReader reads the directory in versions.
type filesReader struct{ domarkx.VersionReader }

func (f filesReader) Top(ctx context.Context, version string) (domarkx.File, error) {
	top, err := f.VersionReader.Top(ctx, version)
	if err != nil {
		return top, err
	}
	files, err := f.VersionReader.Directory(ctx, top.ID)
	if err != nil {
		return top, err
	}
	for _, file := range files {
		if file.Name == filesName && file.Type == domarkx.Directory {
			file.Name = ""
			return file, nil
		}
	}
	return top, fmt.Errorf("the version has no directory %s: %w", filesName, domarkx.ErrCorrupt)
}

func (f filesReader) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := f.VersionReader.Directory(ctx, id)
	if err != nil {
		return nil, err
	}
	files = slices.Clone(files)
	for i := range files {
		if files[i].HardLink == "" {
			continue
		}
		path, ok := strings.CutPrefix(files[i].HardLink, filesName+"/")
		if !ok || path == "" {
			return nil, fmt.Errorf("%.200q is another name of a file outside of %s: %w", files[i].Name, filesName, domarkx.ErrCorrupt)
		}
		files[i].HardLink = path
	}
	return files, nil
}

// CheckLoad reports a version that the directory cannot hold. See [domarkx.LoadChecker].
func (r *resource) CheckLoad(ctx context.Context, from domarkx.VersionReader, base, version string) error {
	return r.Resource.CheckLoad(ctx, filesReader{from}, base, version)
}

// Load ends the server, and replaces the recorded tools and the directory by a version. If the
// server then lists other tools, those are the next version's.
func (r *resource) Load(ctx context.Context, from domarkx.VersionReader, version string) error {
	text, err := readVersion(ctx, from, version)
	if err != nil {
		return err
	}
	r.end()
	if err := atomicfile.Remove(r.in(digestName)); err != nil {
		return err
	}
	if err := r.Resource.Load(ctx, filesReader{from}, version); err != nil {
		return err
	}
	if err := atomicfile.Replace(r.in(toolsName), text); err != nil {
		return err
	}
	return atomicfile.Replace(r.in(digestName), []byte(digest(text)))
}
