package scan

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// A cache stores the results of scans in two files for each version of the rules. Lines are
// appended to the file of blobs. The file of tips holds the findings in the histories of sessions.
// Both may be deleted at any time. They contain only the public prefix and the fingerprint of a
// secret, and the name that it is assigned to.
type cache struct {
	mu       sync.Mutex
	stateDir string
	name     string
	blobs    map[string][]hit // nil until the file is read
	unread   bool             // do not read the file: the blobs to look up are new
	added    bytes.Buffer     // lines to append to the file of blobs
	tips     map[string]tipRows
	loaded   bool
	dirty    bool
}

// tipRows holds the findings in the history of a session's tips.
type tipRows struct {
	Tips []string `json:"tips"`
	Rows []row    `json:"rows,omitempty"`
}

// maxVersions is the number of versions of the rules whose results are kept. Branches may have
// different rules.
const maxVersions = 3

func openCache(stateDir, version string, key []byte) *cache {
	sum := sha256.Sum256(append([]byte("4 "+version+" "), key...))
	return &cache{stateDir: stateDir, name: hex.EncodeToString(sum[:8])}
}

// get returns the secrets in a blob, and whether the blob was scanned before.
func (c *cache) get(key string) ([]hit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blobs == nil && c.unread {
		return nil, false
	}
	if c.blobs == nil {
		c.blobs = readBlobs(derived.ScanBlobs.Path(c.stateDir, c.name))
	}
	hits, ok := c.blobs[key]
	return hits, ok
}

// readBlobs reads lines with a blob and its secrets. It skips invalid lines, which a kill or a full
// disk can leave.
func readBlobs(path string) map[string][]hit {
	blobs := map[string][]hit{}
	file, err := os.Open(path)
	if err != nil {
		return blobs
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return blobs
		}
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || len(key) < 40 || len(key) > 65 || strings.Trim(key[:40], "0123456789abcdef") != "" {
			continue
		}
		if value == "-" {
			blobs[key] = nil
			continue
		}
		var hits []hit
		if json.Unmarshal([]byte(value), &hits) == nil && len(hits) > 0 {
			blobs[key] = hits
		}
	}
}

// expectNew sets whether the next blobs are few and probably new. Scanning one of them again then
// costs less than reading the cache, which grows with the sessions.
func (c *cache) expectNew(unread bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = unread
}

// put stores the secrets in a blob.
func (c *cache) put(key string, hits []hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.blobs[key]; ok {
		return
	}
	if c.blobs != nil {
		c.blobs[key] = hits
	}
	value := []byte("-")
	if len(hits) > 0 {
		value, _ = json.Marshal(hits) //nolint:errcheck,errchkjson // strings and numbers
	}
	fmt.Fprintf(&c.added, "%s %s\n", key, value)
}

func (c *cache) load() {
	if c.loaded {
		return
	}
	c.loaded, c.tips = true, map[string]tipRows{}
	data, err := os.ReadFile(derived.ScanTips.Path(c.stateDir, c.name))
	if err != nil || json.Unmarshal(data, &c.tips) != nil || c.tips == nil {
		c.tips = map[string]tipRows{}
	}
}

// tipsOf returns the findings in the history of a session's tips, and whether all of it was
// scanned.
func (c *cache) tipsOf(name string, tips []string) ([]row, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	known, ok := c.tips[name]
	return slices.Clone(known.Rows), ok && slices.Equal(known.Tips, tips)
}

// former returns the tips at which a session was last scanned, and the findings.
func (c *cache) former(name string) ([]string, []row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	return c.tips[name].Tips, slices.Clone(c.tips[name].Rows)
}

func (c *cache) putTips(name string, tips []string, rows []row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	c.tips[name], c.dirty = tipRows{slices.Clone(tips), slices.Clone(rows)}, true
}

// save writes the changes. It writes the blobs before the tips that depend on them.
func (c *cache) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.added.Len() == 0 && !c.dirty {
		return nil
	}
	blobs := derived.ScanBlobs.Path(c.stateDir, c.name)
	if err := atomicfile.MkdirAll(filepath.Dir(blobs), 0o700); err != nil {
		return err
	}
	c.removeOld()
	if c.added.Len() > 0 {
		file, err := os.OpenFile(blobs, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(c.added.Bytes())
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
		c.added.Reset()
	}
	if !c.dirty {
		return nil
	}
	data, err := json.Marshal(c.tips)
	if err != nil {
		return err
	}
	c.dirty = false
	return atomicfile.Replace(derived.ScanTips.Path(c.stateDir, c.name), data)
}

// removeOld removes the files of the least recently used rules if there are more than maxVersions.
func (c *cache) removeOld() {
	dir := filepath.Dir(derived.ScanBlobs.Path(c.stateDir, c.name))
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var old []fs.FileInfo
	for _, e := range list {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".blobs") && !strings.HasPrefix(e.Name(), c.name) {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range old[min(len(old), maxVersions-1):] {
		path := filepath.Join(dir, info.Name())
		os.Remove(path)
		os.Remove(strings.TrimSuffix(path, ".blobs") + ".tips")
	}
}
