package integration_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// BenchmarkReview reviews a branch of 300 files and 20,000 lines. A person changed some of them after the agent.
func BenchmarkReview(b *testing.B) {
	const files, lines, batches = 300, 67, 100
	s := newRepository(b)
	s.write("README", "start\n")
	s.must("", "git", "add", "-A")
	s.must("", "git", "commit", "-qm", "start")
	m, _, _ := observing(b, s)
	text := func(f, from, to int) string {
		var t strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&t, "line %d of file %d does something with value%d\n", i, f, i*f)
		}
		return t.String()
	}
	at := func(f int) string { return fmt.Sprintf("src/part%02d/file%03d.go", f%20, f) }
	take := func(kind string, n int) {
		v, err := m.Take(b.Context(), observe.Moment{Kind: kind, Agent: "claude-code", ID: "1", Dir: s.dir, Calls: []string{fmt.Sprint(n)}, Time: time.Now()})
		if err != nil || v.ID == "" {
			b.Fatal(v.ID, err)
		}
	}
	take(events.Prompt, 0)
	for n := range batches { // each batch writes a half of six files
		for i := range 6 {
			f := (n*6 + i) % files
			body := text(f, 0, lines/2)
			if n >= batches/2 {
				body = text(f, 0, lines)
			}
			s.write(at(f), body)
		}
		take(events.Batch, n)
	}
	for f := 0; f < files; f += 3 {
		s.write(at(f), text(f, 0, lines)+"// by hand\n")
	}
	s.must("", "git", "add", "-A")
	s.must("", "git", "commit", "-qm", "work")
	var out string
	for _, name := range []string{"the first review of 300 files and 20,000 lines", "review of 300 files and 20,000 lines"} {
		start := time.Now()
		out = s.must("", "git", "domarkx", "review", "HEAD^..HEAD")
		score(b, name, time.Since(start).Seconds(), 5, "s")
	}
	if !strings.Contains(out, fmt.Sprintf("%d by models, %d by persons, 0 unknown", files*lines, files/3)) {
		b.Fatalf("%.300s", out)
	}
}
