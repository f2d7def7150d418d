package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// BenchmarkScan measures scanning: of session text, of files, and of sessions that were scanned before.
func BenchmarkScan(b *testing.B) {
	dir := b.TempDir()
	writeDocument(b, filepath.Join(dir, "s.jsonl"), func(w *documentWriter) { w.claude(20_000_000) })
	transcript, err := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	source := sourceOfProject(b)
	scanner := secrets.New(nil, nil)
	scanner.Text([]byte("x")) // compiles the rules
	text := processorTime(b, func() { scanner.File("", transcript) })
	files := processorTime(b, func() {
		for name, data := range source {
			scanner.File(name, data)
		}
	})
	size := 0
	for _, data := range source {
		size += len(data)
	}
	score(b, "scan of session text for secrets: CPU for 15 MB", milliseconds(text)*15e6/float64(len(transcript)), 1000, "ms")
	score(b, "scan of source files for secrets: CPU for 3 MB", milliseconds(files)*3e6/float64(size), 1000, "ms")

	r := newRepository(b)
	for i := range 100 {
		r.write(fmt.Sprintf("in/d%03d.md", i), document(fmt.Sprintf("d%03d", i), 100))
	}
	r.domarkx("import", "in")
	first := time.Now()
	r.domarkx("scan")
	score(b, "scan of 100 sessions of 100 messages: time", milliseconds(time.Since(first)), 0, "ms")
	again := race(5, func() { r.domarkx("scan") })
	score(b, "scan of the same, unchanged: time", milliseconds(again[0]), 50, "ms")
}

// processorTime returns the processor time that a function takes, which other programs do not change.
func processorTime(b *testing.B, run func()) time.Duration {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	run()
	return used() - start
}

// sourceOfProject returns the Go files of this repository.
func sourceOfProject(b *testing.B) map[string][]byte {
	b.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".go") {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}
