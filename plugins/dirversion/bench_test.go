//go:build linux

package dirversion_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

// hasher is a VersionWriter that hashes contents and stores nothing.
type hasher struct{ n int }

func (h *hasher) Content(_ context.Context, r io.Reader) (string, int64, error) {
	sum := sha1.New()
	n, err := io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), n, err
}

func (h *hasher) Add(context.Context, string, domarkx.File) error { h.n++; return nil }

// benchDirectory creates 50,000 files in 1,000 directories, with old times.
func benchDirectory(b *testing.B) string {
	b.Helper()
	top := b.TempDir()
	old := time.Now().Add(-time.Hour)
	for d := range 1000 {
		dir := filepath.Join(top, fmt.Sprintf("area%02d/part%02d", d/50, d%50))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 50 {
			path := filepath.Join(dir, fmt.Sprintf("file%03d.go", f))
			content := fmt.Appendf(nil, "package part%d\n\n// File %d of %d.\n%0500d\n", d, f, d, d*f)
			if err := os.WriteFile(path, content, 0o644); err != nil {
				b.Fatal(err)
			}
			os.Chtimes(path, old, old)
		}
	}
	return top
}

func change(b *testing.B, top string, round int) {
	b.Helper()
	for d := range 10 {
		path := filepath.Join(top, fmt.Sprintf("area%02d/part%02d/file%03d.go", d*2, d, d))
		if err := os.WriteFile(path, fmt.Appendf(nil, "round %d\n", round), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit commits 50,000 files after 10 changed. Compare it with BenchmarkGit.
func BenchmarkCommit(b *testing.B) {
	top := benchDirectory(b)
	f, err := dirversion.Open(dirversion.Config{Path: top, Cache: filepath.Join(b.TempDir(), "stat")})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.Run("first", func(b *testing.B) {
		for range b.N {
			cold, err := dirversion.Open(dirversion.Config{Path: top})
			if err != nil {
				b.Fatal(err)
			}
			if err := cold.Commit(b.Context(), &hasher{}); err != nil {
				b.Fatal(err)
			}
			cold.Close()
		}
	})
	if err := f.Commit(b.Context(), &hasher{}); err != nil {
		b.Fatal(err)
	}
	b.Run("changed10", func(b *testing.B) {
		for round := range b.N {
			b.StopTimer()
			change(b, top, round)
			b.StartTimer()
			h := &hasher{}
			if err := f.Commit(b.Context(), h); err != nil || h.n < 50000 {
				b.Fatal(h.n, err)
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		waitForTimes(b)
		if err := f.Commit(b.Context(), &hasher{}); err != nil {
			b.Fatal(err)
		}
		for range b.N {
			if changed, err := f.Changed(b.Context()); changed || err != nil {
				b.Fatal(changed, err)
			}
		}
	})
}

// BenchmarkGit measures git add and git write-tree for the same change.
func BenchmarkGit(b *testing.B) {
	top := benchDirectory(b)
	git := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", args...)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v", out, err)
		}
	}
	git("init", "-q")
	b.Run("first", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			os.RemoveAll(filepath.Join(top, ".git"))
			git("init", "-q")
			b.StartTimer()
			git("add", "-A")
			git("write-tree")
		}
	})
	b.Run("changed10", func(b *testing.B) {
		for round := range b.N {
			b.StopTimer()
			change(b, top, round)
			b.StartTimer()
			git("add", "-A")
			git("write-tree")
		}
	})
}
