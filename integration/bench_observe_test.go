package integration_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// observing opens the work tree of a repository to take versions of it.
func observing(tb testing.TB, s *site) (*observe.Manager, *gitstore.Store, *gitcmd.Git) {
	tb.Helper()
	git, err := gitcmd.Discover(tb.Context(), s.dir, s.env)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := gitstore.Open(tb.Context(), git)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { store.Close() })
	who := domarkx.Signature{Name: "Ann", Email: "ann@example.org"}
	env := local.Environment{StateDir: git.StateDir(), WorkTree: git.WorkTree, Local: local.NewFile(git),
		Identity: func(context.Context) (domarkx.Signature, domarkx.Signature, error) {
			now := who
			now.When = time.Now()
			return now, now, nil
		}}
	return observe.New(transaction.New(store, trust.New(store, env), enginetest.NoRedactor{}), store, git, env, "boot", func() ([]string, error) { return nil, nil }), store, git
}

// BenchmarkObserve takes versions of a work tree with 50,000 files.
func BenchmarkObserve(b *testing.B) {
	const directories, files, changed = 1000, 50, 10
	ours, theirs := newRepository(b), newRepository(b)
	file := func(d, f int) string { return fmt.Sprintf("area%02d/part%02d/file%03d.go", d/50, d%50, f) }
	old := time.Now().Add(-time.Hour)
	for _, s := range []*site{ours, theirs} {
		s.write(".gitignore", "*.o\nnode_modules/\n/build\n!keep.o\n")
		for d := range directories {
			for f := range files {
				s.write(file(d, f), fmt.Sprintf("package part%d\n\n// File %d of %d.\n%0500d\n", d, f, d, d*f))
				if err := os.Chtimes(s.path(file(d, f)), old, old); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	ours.must("", "git", "add", "-A")
	m, _, _ := observing(b, ours)
	take := func() {
		v, err := m.Take(b.Context(), observe.Moment{Kind: events.Batch, Agent: "claude-code", ID: "1", Dir: ours.dir, Calls: []string{"1"}, Time: time.Now()})
		if err != nil || v.ID == "" {
			b.Fatal(v.ID, err)
		}
	}
	add := func() { theirs.must("", "sh", "-c", "git add -A && git write-tree") }
	start := time.Now()
	take()
	first := time.Since(start)
	start = time.Now()
	add()
	score(b, "first version of a work tree of 50,000 files: time, against git add -A and write-tree", ratio(first, time.Since(start)), 1.5, "x")
	var times [2][]time.Duration
	for round := range 15 {
		for _, s := range []*site{ours, theirs} {
			for i := range changed {
				s.write(file(i*directories/changed, (i+round)%files), fmt.Sprintf("round %d\n", round))
			}
		}
		for i, run := range []func(){take, add} {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	score(b, "version of a work tree of 50,000 files, 10 changed: time, against git add -A and write-tree", ratio(median(times[0]), median(times[1])), 1.5, "x")
}

// BenchmarkLargeTurns takes a version after each turn in a work tree of 50,000 files and 2 GB. A turn changes a line in the same 20
// sources, and 1 MiB of a binary of 50 MB, which is written anew. There are 33 turns, when soaking 1,000.
func BenchmarkLargeTurns(b *testing.B) {
	const files, sources, binary, part = 50_000, 20, 50 << 20, 1 << 20
	turns := 33 // after which the packs of 32 are joined
	if soaking() {
		turns = 1000
	}
	s, random := newRepository(b), rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("the error func return value of a file range string if err != nil { } := name path index byte len( ) append for")
	file := func(i int) string { return fmt.Sprintf("area%02d/part%02d/file%02d.go", i/1000, i/25%40, i%25) }
	text := func() []string {
		lines := make([]string, 1000)
		for i := range lines {
			for range 8 {
				lines[i] += words[random.IntN(len(words))] + " "
			}
		}
		return lines
	}
	for i := range files {
		s.write(file(i), strings.Join(text(), "\n"))
	}
	content := make([]byte, binary)
	chance := rand.NewChaCha8([32]byte{})
	chance.Read(content)
	m, _, _ := observing(b, s)
	take := func() time.Duration {
		s.write("program", string(content))
		began := time.Now()
		v, err := m.Take(b.Context(), observe.Moment{Kind: events.Batch, Agent: "claude-code", ID: "1", Dir: s.dir, Calls: []string{"1"}, Time: time.Now()})
		if err != nil || v.ID == "" {
			b.Fatal(v.ID, err)
		}
		return time.Since(began)
	}
	first := take()
	before := s.stored()
	score(b, "first version of 50,000 files and 2 GB", first.Seconds(), 0, "s")
	times := make([]time.Duration, turns)
	for turn := range times {
		chance.Read(content[turn*7*part%(binary-part):][:part])
		for i := range sources {
			path := file(i * 7)
			lines := strings.Split(s.read(path), "\n")
			lines[turn%len(lines)] = fmt.Sprintf("changed in turn %d", turn)
			s.write(path, strings.Join(lines, "\n"))
		}
		times[turn] = take()
	}
	grown := s.stored() - before
	// The edges of the new content take 90 kB, because the binary is stored in chunks of 64 KiB on average.
	score(b, "a turn in 50,000 files and 2 GB: what its version adds beside the binary's new content", float64(grown)/float64(turns)/1000-part/1000., 140, "kB")
	score(b, "a turn in 50,000 files and 2 GB: time of its version", milliseconds(median(times)), 0, "ms")
}

// BenchmarkBlame looks up a file of 2,000 lines with 1,000 versions.
func BenchmarkBlame(b *testing.B) {
	const lines, versions, changed = 2000, 1000, 10
	s := newRepository(b)
	m, store, git := observing(b, s)
	text := make([]string, lines)
	for i := range text {
		text[i] = fmt.Sprintf("line %d of the file, as it was written first", i)
	}
	for v := range versions {
		for i := range changed {
			text[(v*37+i*191)%lines] = fmt.Sprintf("line %d, changed in version %d", i, v)
		}
		s.write("src/file.go", strings.Join(text, "\n")+"\n")
		if _, err := m.Take(b.Context(), observe.Moment{Kind: events.Batch, Agent: "claude-code", ID: "1", Dir: s.dir, Calls: []string{fmt.Sprint(v)}, Time: time.Now()}); err != nil {
			b.Fatal(err)
		}
	}
	whole := func(what string) {
		var times []time.Duration
		for range 5 {
			start := time.Now()
			found, err := blame.New(store, git, local.NewFile(git)).File(b.Context(), "src/file.go", 0, 0)
			if err != nil || len(found) != lines {
				b.Fatal(len(found), err)
			}
			times = append(times, time.Since(start))
		}
		score(b, what, median(times).Seconds(), 1, "s")
	}
	whole("blame of 2,000 lines with 1,000 versions")
	if err := os.WriteFile(filepath.Join(s.dir, "src/file.go"), []byte("// a header\n"+strings.Join(text, "\n")+"\n// and an end\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	lineCount := lines + 2
	start := time.Now()
	found, err := blame.New(store, git, local.NewFile(git)).File(b.Context(), "src/file.go", 0, 0)
	if err != nil || len(found) != lineCount {
		b.Fatal(len(found), err)
	}
	score(b, "blame of 2,000 lines with 1,000 versions, of which none is the same", time.Since(start).Seconds(), 1, "s")
}
