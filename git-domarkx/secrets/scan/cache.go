package scan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/gitstore/derived"
)

// A cache stores the findings in the histories of sessions, as rules found them. Its file may be deleted at any time. It contains
// only the public prefix and the fingerprint of a secret, and the name that it is assigned to. The secrets in blobs are known as long as
// the process runs, because sessions share blobs.
type cache struct {
	mu       sync.Mutex
	stateDir string
	stored   stored   // without sessions until the file is read
	blobs    sync.Map // key of a blob → []hit
}

// stored is the content of the file.
type stored struct {
	Rules    string             `json:"rules"` // identifies the rules and the key of fingerprints
	Sessions map[string]tipRows `json:"sessions"`
}

// tipRows holds the findings in the history of a session's tips.
type tipRows struct {
	Tips []string `json:"tips"`
	Rows []row    `json:"rows,omitempty"`
}

func openCache(stateDir, version string, key []byte) *cache {
	sum := sha256.Sum256(append([]byte("5 "+version+" "), key...))
	return &cache{stateDir: stateDir, stored: stored{Rules: hex.EncodeToString(sum[:8])}}
}

// hits returns the secrets in a blob, which scan finds the first time. Those of a quick scan, which may leave the blob out, are not kept.
func (c *cache) hits(key string, quick *limit, scan func() ([]hit, error)) ([]hit, error) {
	if known, ok := c.blobs.Load(key); ok {
		return known.([]hit), nil
	}
	hits, err := scan()
	if err == nil && quick == nil {
		c.blobs.Store(key, hits)
	}
	return hits, err
}

// tipsOf returns the tips at which a session was last scanned, and the findings in their history.
func (c *cache) tipsOf(name string) ([]string, []row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	known := c.stored.Sessions[name]
	return known.Tips, slices.Clone(known.Rows)
}

func (c *cache) load() {
	if c.stored.Sessions != nil {
		return
	}
	var file stored
	if derived.Scans.ReadValue(c.stateDir, &file) && file.Rules == c.stored.Rules {
		c.stored = file
	}
	if c.stored.Sessions == nil {
		c.stored.Sessions = map[string]tipRows{}
	}
}

// keep stores the findings in the history of a session's tips.
func (c *cache) keep(name string, tips []string, rows []row) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	c.stored.Sessions[name] = tipRows{slices.Clone(tips), slices.Clone(rows)}
	return derived.Scans.WriteValue(c.stateDir, c.stored)
}
