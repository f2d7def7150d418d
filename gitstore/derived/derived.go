// Package derived keeps the files that can be made again from the objects of a repository: lists, indexes and results of
// scans. They are in the directory of this program's state, and anybody may remove them at any time.
//
// Each of them is of a [Kind], and all kinds are in one table here. So redactions loop over the table, and do not depend on
// whoever writes a file.
package derived

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/glob"
)

// A Kind is a kind of derived files. All may hold texts, names or object ids of sessions.
type Kind struct {
	path    string // in the state directory; * stands for a key
	also    string // pattern of files that belong to it; "" for none
	version int    // of the content that Write and Read check; 0 for files that their owner opens
}

// The kinds of derived files.
var (
	Sessions   = Kind{path: "list-cache", version: 5}      // newest snapshots of sessions
	Conflicts  = Kind{path: "conflict-cache", version: 4}  // numbers of conflicts in snapshots
	Workspaces = Kind{path: "workspace-cache", version: 4} // newest versions of workspaces
	Synced     = Kind{path: "synced"}                      // packs and references that are known to be durable
	Usage      = Kind{path: "usage-cache", version: 4}     // tokens of responses in sessions
	Search     = Kind{path: "search.db", also: "search.db-*"}
	Scans      = Kind{path: "scan-cache", version: 1} // findings in sessions, with their places
	WorkTree   = Kind{path: "observed/*/stat"}        // contents of files in a work tree, by their stat
	Tracked    = Kind{path: "observed/*/tracked"}     // files in the index of a work tree
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{Sessions, Conflicts, Workspaces, Synced, Usage, Search, Scans, WorkTree, Tracked}
}

// Path returns the path of the file with a key, which is "" for kinds with one file.
func (k Kind) Path(stateDir, key string) string {
	return filepath.Join(stateDir, filepath.FromSlash(strings.Replace(k.path, "*", key, 1)))
}

// Has reports whether a slash-separated path in the state directory is that of a derived file.
func Has(name string) bool {
	for _, k := range Kinds() {
		for _, pattern := range []string{k.path, k.also} {
			if ok, err := filepath.Match(pattern, name); err == nil && ok {
				return true
			}
		}
	}
	return false
}

// head returns the first line of a file.
func (k Kind) head() string { return fmt.Sprintf("domarkx %s %d\n", k.path, k.version) }

// sumSize is the size of the CRC-32 (Castagnoli) of the content, big endian, between the first line and the content.
const sumSize = 4

// Read returns the content that Write stored. ok is false if there is none, or if it is damaged or of another version. A state
// directory "" stands for none.
func (k Kind) Read(stateDir string) (content string, ok bool) {
	if stateDir == "" {
		return "", false
	}
	f, err := os.Open(k.Path(stateDir, ""))
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	head := k.head()
	start := make([]byte, len(head)+sumSize)
	if _, e := io.ReadFull(f, start); err != nil || e != nil || string(start[:len(head)]) != head {
		return "", false
	}
	// The content is long, so it is in memory only once.
	var b strings.Builder
	b.Grow(int(info.Size()))
	checksum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.Copy(io.MultiWriter(&b, checksum), f)
	return b.String(), err == nil && checksum.Sum32() == binary.BigEndian.Uint32(start[len(head):])
}

// Write replaces the content, unless the state directory does not exist: reading a repository does not create it. It syncs
// nothing, because Read ignores a damaged file.
func (k Kind) Write(stateDir string, content []byte) error {
	head := binary.BigEndian.AppendUint32([]byte(k.head()), crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
	return k.Replace(stateDir, head, content)
}

// ReadValue reads what WriteValue stored, and reports whether it did.
func (k Kind) ReadValue(stateDir string, v any) bool {
	content, ok := k.Read(stateDir)
	return ok && json.Unmarshal([]byte(content), v) == nil
}

// WriteValue is [Kind.Write] for a value, as JSON.
func (k Kind) WriteValue(stateDir string, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return k.Write(stateDir, content)
}

// Replace is [Kind.Write] for a kind whose content its owner checks.
func (k Kind) Replace(stateDir string, parts ...[]byte) error {
	if stateDir == "" {
		return fs.ErrNotExist
	}
	path := k.Path(stateDir, "")
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	for _, part := range parts {
		_, e := f.Write(part)
		err = errors.Join(err, e)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Remove removes all files of the kind.
func (k Kind) Remove(stateDir string) error {
	var errs []error
	for _, pattern := range []string{k.path, k.also} {
		if pattern == "" {
			continue
		}
		paths, err := glob.Below(stateDir, pattern)
		errs = append(errs, err)
		for _, path := range paths {
			if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// RemoveTexts removes all derived files, which may hold texts, except those of the kinds in but.
func RemoveTexts(stateDir string, but ...Kind) error {
	var errs []error
	for _, k := range Kinds() {
		if !slices.Contains(but, k) {
			errs = append(errs, k.Remove(stateDir))
		}
	}
	return errors.Join(errs...)
}
