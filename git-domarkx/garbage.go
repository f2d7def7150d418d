package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// A garbage says when garbage is collected, unless the user does with GOGC or GOMEMLIMIT.
type garbage struct {
	mu       sync.Mutex
	least    int64 // see bound; 0 for none
	follows  bool  // what is held, after each collection
	ofOthers bool  // the user said when
}

// delayedPercent puts the first collection off until there are 16 MB, not 4: most commands
// end before, and would spend a fifth of their time on it.
const delayedPercent = 400

// newGarbage delays the first collection. From then on it is as Go does it.
func newGarbage(getenv func(string) string) *garbage {
	g := &garbage{ofOthers: getenv("GOMEMLIMIT") != "" || getenv("GOGC") != ""}
	if !g.ofOthers {
		debug.SetGCPercent(delayedPercent)
		g.follow()
	}
	return g
}

// bound lets garbage be collected when so many bytes are taken, or when it is little more than
// what is held: where that is more than the bound, Go would collect without end.
func (g *garbage) bound(least int64) {
	if g.ofOthers {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.least = least
	debug.SetMemoryLimit(least)
	debug.SetGCPercent(delayedPercent)
	if !g.follows {
		g.follow()
	}
}

// follow has collected called after the next collection.
func (g *garbage) follow() {
	g.follows = true
	runtime.SetFinalizer(new([]byte), func(*[]byte) { g.collected() })
}

func (g *garbage) collected() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.least == 0 {
		g.follows = false
		debug.SetGCPercent(100)
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	held := int64(live[0].Value.Uint64())
	debug.SetMemoryLimit(max(g.least, held+held/8+24<<20))
	g.follow()
}
