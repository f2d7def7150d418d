//go:build linux

package fusefs_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkReadAgain reads a session of 10,000 messages, which was read before,
// and reports how much longer it takes than reading a plain file.
func BenchmarkReadAgain(b *testing.B) {
	m := mounted(b)
	var text bytes.Buffer
	for k := range 10_000 {
		fmt.Fprintf(&text, "## user\n\nmessage %d: %s\n\n", k, bytes.Repeat([]byte("text "), 100))
	}
	m.outside("s", text.String())
	plain := filepath.Join(m.dir, "plain")
	if err := os.WriteFile(plain, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 1<<17)
	cat := func(name string) time.Duration {
		start := time.Now()
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer)
		if err != nil || n != int64(text.Len()) {
			b.Fatal(n, err)
		}
		return time.Since(start)
	}
	session := m.path("sessions/s.md")
	cat(session)
	cat(plain)
	var mounted, native []time.Duration
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		mounted = append(mounted, cat(session))
		native = append(native, cat(plain))
	}
	slices.Sort(mounted)
	slices.Sort(native)
	half := len(mounted) / 2 // medians: other work on the machine makes the means useless
	b.ReportMetric(float64(mounted[half])/float64(native[half]), "×plain")
	b.ReportMetric(float64(mounted[half].Microseconds()), "µs/read")
}

// BenchmarkList lists 1,000 sessions with their attributes.
func BenchmarkList(b *testing.B) {
	m := mounted(b)
	for i := range 1000 {
		m.outside(fmt.Sprintf("s%d", i), doc)
	}
	for b.Loop() {
		entries, err := os.ReadDir(m.path("sessions"))
		if err != nil || len(entries) != 1000 {
			b.Fatal(len(entries), err)
		}
		for _, e := range entries {
			if _, err := e.Info(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkSave saves a session and waits until the save is acknowledged.
func BenchmarkSave(b *testing.B) {
	m := mounted(b)
	i := 0
	for b.Loop() {
		i++
		m.save("sessions/s.md", fmt.Sprintf("## user\n\n%d\n", i))
	}
}
