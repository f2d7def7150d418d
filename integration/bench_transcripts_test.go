package integration_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkTranscriptTurn measures the import of one more turn of a transcript of 4 MB.
func BenchmarkTranscriptTurn(b *testing.B) {
	for name, write := range map[string]func(*documentWriter, int64){"Claude Code": (*documentWriter).claude, "Codex": (*documentWriter).codex} {
		r := newRepository(b)
		whole := r.path("whole.jsonl")
		writeDocument(b, whole, func(w *documentWriter) { write(w, 4_200_000) })
		data, err := os.ReadFile(whole)
		if err != nil {
			b.Fatal(err)
		}
		turns := []int{} // ends of the last turns
		for at := len(data); len(turns) < 8; {
			at = bytes.LastIndex(data[:at], []byte(map[string]string{"Claude Code": `"type":"user","message":{"role":"user","content":"`, "Codex": `"type":"turn_context"`}[name]))
			turns = append([]int{bytes.LastIndexByte(data[:at], '\n') + 1}, turns...)
		}
		r.write("s.jsonl", string(data[:turns[0]]))
		r.domarkx("import", "s.jsonl")
		r.write("small.md", document("small", 1))
		var started, grown []time.Duration
		for i, end := range append(turns[1:], len(data)) {
			r.write("s.jsonl", string(data[:end]))
			cpu, _ := r.used("git-domarkx", "import", "s.jsonl")
			grown = append(grown, cpu)
			r.write("small.md", document("small", i+2))
			cpu, _ = r.used("git-domarkx", "version")
			started = append(started, cpu)
		}
		score(b, "import of one more turn of a 4 MB transcript of "+name+": CPU beyond start-up", milliseconds(median(grown)-median(started)), 20, "ms")
	}
}

// BenchmarkTranscriptPack measures how much of a pack a growing transcript takes, whose states are
// imported one after the other, and how much its last state takes alone: of a realistic session, and of
// one of random words, which no compression makes much smaller.
func BenchmarkTranscriptPack(b *testing.B) {
	real := readProject(b)
	for _, test := range []struct {
		name  string
		write func(w *documentWriter)
		alone float64 // limit
	}{
		{"realistic", func(w *documentWriter) { w.realClaude(real, 4_000_000) }, 100.0 / 6},
		{"random", func(w *documentWriter) { w.claude(3_000_000) }, 0},
	} {
		const states = 12
		whole := filepath.Join(b.TempDir(), "whole.jsonl")
		writeDocument(b, whole, test.write)
		data, err := os.ReadFile(whole)
		if err != nil {
			b.Fatal(err)
		}
		growing, all := newRepository(b), 0
		for i := 1; i <= states; i++ {
			end := bytes.LastIndexByte(data[:len(data)*i/states], '\n') + 1
			growing.write("s.jsonl", string(data[:end]))
			growing.domarkx("import", "s.jsonl")
			all += end
		}
		score(b, fmt.Sprintf("%d states of a growing %s transcript: pack, against all of them", states, test.name), packed(b, growing)/float64(all)*100, 8, "%")
		alone := newRepository(b)
		alone.write("s.jsonl", string(data))
		alone.domarkx("import", "s.jsonl")
		score(b, "a "+test.name+" transcript: pack, against its file", packed(b, alone)/float64(len(data))*100, test.alone, "%")
	}
}

// packed returns the size of the packs of a repository in which all garbage was collected.
func packed(b *testing.B, r *site) float64 {
	b.Helper()
	r.domarkx("gc")
	r.git("gc", "-q", "--prune=now")
	for line := range strings.SplitSeq(r.git("count-objects", "-v"), "\n") {
		if size, ok := strings.CutPrefix(line, "size-pack: "); ok {
			n, err := strconv.ParseFloat(size, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n * 1024
		}
	}
	b.Fatal("no pack")
	return 0
}

// BenchmarkTranscriptsUnchanged measures the import of 1,000 transcripts that did not change.
func BenchmarkTranscriptsUnchanged(b *testing.B) {
	r := newRepository(b)
	home := b.TempDir()
	for i := range 1000 {
		path := filepath.Join(home, "projects", "-work-shop", fmt.Sprintf("%08d-0000-4000-8000-000000000001.jsonl", i))
		writeDocument(b, path, func(w *documentWriter) { w.claude(20_000) })
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("5e551017-0000"), fmt.Appendf(nil, "5e55%04d-0000", i)), 0o600); err != nil {
			b.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	r.domarkx("import", filepath.Join(home, "projects"))
	if n := strings.Count(r.domarkx("list"), "\n"); n != 1000 {
		b.Errorf("%d sessions, want 1000", n)
	}
	var used []time.Duration
	for range 7 {
		cpu, _ := r.used("git-domarkx", "import", filepath.Join(home, "projects"))
		used = append(used, cpu)
	}
	score(b, "import of 1,000 unchanged transcripts: CPU", milliseconds(median(used)), 150, "ms")
	times := race(7, func() { r.domarkx("import", filepath.Join(home, "projects")) })
	score(b, "import of 1,000 unchanged transcripts: time", milliseconds(times[0]), 0, "ms")
}
