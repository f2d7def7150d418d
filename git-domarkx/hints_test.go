package main

import "testing"

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 sessions", 1: "1 session", 999: "999 sessions", 1000: "1,000 sessions", 1234567: "1,234,567 sessions"} {
		if got := counted(n, "session"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
