package main

import (
	"runtime"
	"testing"
)

// What a container leaves of the machine's processors counts, and what the user says.
func TestServeWhileReading(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for said, want := range map[string]int{"": 7, "5": 5} {
		t.Setenv("GOMAXPROCS", said)
		runtime.GOMAXPROCS(5)
		if serveWhileReading(); runtime.GOMAXPROCS(0) != want {
			t.Errorf("told %q: %d, want %d", said, runtime.GOMAXPROCS(0), want)
		}
	}
}
