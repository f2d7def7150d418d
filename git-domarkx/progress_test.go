package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestFetchProgress checks that a fetch shows how many objects came, and no references and counters of Git.
func TestFetchProgress(t *testing.T) {
	var shown bytes.Buffer
	m := &fetchMeter{progress: &progress{w: &shown, start: time.Now().Add(-time.Minute)}, counter: regexp.MustCompile(receiving)}
	said := "remote: Enumerating objects: 9, done.\nremote: Counting objects: 100% (9/9), done.\n" +
		"Receiving objects:  10% (1/9)\rReceiving objects: 100% (9/9), 1.00 MiB | 1 MiB/s, done.\n" +
		"From ../hub\n * [new ref]  refs/domarkx/sessions/a -> refs/domarkx-incoming/origin/sessions/a\n" + strings.Repeat("x", 5000)
	for i := range len(said) {
		if n, err := m.Write([]byte(said[i : i+1])); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if !strings.Contains(shown.String(), "receiving objects") || !strings.Contains(shown.String(), "/9") {
		t.Errorf("it shows %q", shown.String())
	}
	for _, text := range []string{"refs/", "Counting", "remote", "From"} {
		if strings.Contains(shown.String(), text) {
			t.Errorf("%q is in %q", text, shown.String())
		}
	}
	if len(m.line) > 1<<10 {
		t.Errorf("%d bytes are kept", len(m.line))
	}
}
