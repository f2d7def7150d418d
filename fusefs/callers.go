//go:build linux || darwin

package fusefs

import (
	"sync"
	"time"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

const (
	callerFresh = 50 * time.Millisecond // far less than the time until a thread id is reused
	maxCallers  = 256
)

// callers caches the process of each thread for a moment: a program that opens thousands
// of files would otherwise need a lookup for each.
type callers struct {
	mu    sync.Mutex
	known map[uint32]knownCaller
}

type knownCaller struct {
	basis.Caller
	until time.Time
}

// of returns the process that a thread belongs to, with its process group.
func (c *callers) of(thread uint32) basis.Caller {
	now := time.Now()
	c.mu.Lock()
	k, ok := c.known[thread]
	c.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.Caller
	}
	caller := callerOf(thread)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCallers {
		c.known = make(map[uint32]knownCaller)
	}
	c.known[thread] = knownCaller{caller, now.Add(callerFresh)}
	return caller
}
