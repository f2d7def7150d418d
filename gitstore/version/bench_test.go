package version_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/version"
)

const (
	benchFiles     = 50_000
	benchDirectory = 10 // files per directory
)

// benchContent returns 1 to 2 KiB of text, different for each file.
func benchContent(i int) []byte {
	line := fmt.Appendf(nil, "func f%d(x int) int { return x*%d + %x }\n", i, i, uint64(i)*0x9e3779b97f4a7c15)
	return bytes.Repeat(line, 24+i%16)
}

// benchTree returns files and directories in the order of a walk.
func benchTree(files int) []versionFile {
	tree := []versionFile{top()}
	for i := range files {
		if i%(benchDirectory*10) == 0 {
			tree = append(tree, directory(fmt.Sprintf("package%04d", i/benchDirectory/10)))
		}
		if i%benchDirectory == 0 {
			tree = append(tree, directory(fmt.Sprintf("package%04d/part%d", i/benchDirectory/10, i/benchDirectory%10)))
		}
		tree = append(tree, regular(fmt.Sprintf("%s/file%d.go", tree[len(tree)-1-i%benchDirectory].Path, i%benchDirectory), ""))
	}
	return tree
}

// storeContents stores the contents of all files on all processors, as a scan does.
func storeContents(b *testing.B, v *version.Writer, tree []versionFile, open func(i int) io.ReadCloser) {
	b.Helper()
	next := make(chan int, 64)
	var scan sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		scan.Go(func() {
			for i := range next {
				r := open(i)
				id, _, err := v.Content(context.Background(), r)
				if err != nil {
					b.Error(err)
				}
				tree[i].ID = id
				r.Close()
			}
		})
	}
	for i := range tree {
		if tree[i].Type == domarkx.Regular {
			next <- i
		}
	}
	close(next)
	scan.Wait()
}

func benchVersion(b *testing.B, s version.Reader) (version string, tree []versionFile) {
	b.Helper()
	tree = benchTree(benchFiles)
	v := begin(b, s, "")
	storeContents(b, v, tree, func(i int) io.ReadCloser { return io.NopCloser(bytes.NewReader(benchContent(i))) })
	addAll(b, v, tree)
	return finish(b, v), tree
}

func addAll(b *testing.B, v *version.Writer, tree []versionFile) {
	b.Helper()
	for i := range tree {
		if err := v.Add(context.Background(), tree[i].Path, tree[i].File); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVersionUnchanged writes a version of 50,000 known files, ten of them changed. It does
// not include the scan.
func BenchmarkVersionUnchanged(b *testing.B) {
	s, _ := newStore(b)
	base, tree := benchVersion(b, s)
	n := 0
	for b.Loop() {
		v := begin(b, s, base)
		for i := range 10 {
			at := 2 + i*5000 + 1
			for tree[at].Type != domarkx.Regular {
				at++
			}
			n++
			var err error
			if tree[at].ID, _, err = v.Content(context.Background(), bytes.NewReader(benchContent(benchFiles+n))); err != nil {
				b.Fatal(err)
			}
		}
		addAll(b, v, tree)
		base = finish(b, v)
	}
}

// BenchmarkVersionWalk reads the names, attributes and sizes of all files.
func BenchmarkVersionWalk(b *testing.B) {
	s, dir := newStore(b)
	first, tree := benchVersion(b, s)
	walk := func(b *testing.B, s version.Reader, id string) {
		for b.Loop() {
			files := 0
			err := domarkx.WalkVersion(context.Background(), s, id, func(string, domarkx.File) error { files++; return nil })
			if err != nil || files != len(tree) {
				b.Fatal(files, err)
			}
		}
	}
	b.Run("gitstore", func(b *testing.B) { walk(b, s, first) })
	for i := range tree {
		tree[i] = tree[i].owner(0, 0)
		if i%10 == 0 && tree[i].Type == domarkx.Regular {
			tree[i] = tree[i].owner(1000, 1000)
		}
	}
	owned := writeVersion(b, s, first, tree...)
	b.Run("gitstore-owners", func(b *testing.B) { walk(b, s, owned) })
	for _, args := range [][]string{{"ls-tree", "-r", "-t"}, {"ls-tree", "-r", "-t", "--long"}} {
		b.Run("git "+args[len(args)-1], func(b *testing.B) {
			for b.Loop() {
				git(b, dir, append(args, first)...)
			}
		})
	}
}

// BenchmarkVersionFirst stores 50,000 new files of a directory.
func BenchmarkVersionFirst(b *testing.B) {
	work := b.TempDir()
	tree := benchTree(benchFiles)
	for i, f := range tree {
		path := filepath.Join(work, f.Path)
		if f.Type == domarkx.Directory {
			if err := os.MkdirAll(path, 0o755); err != nil {
				b.Fatal(err)
			}
		} else if err := os.WriteFile(path, benchContent(i), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("gitstore", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			s, _ := newStore(b)
			b.StartTimer()
			v := begin(b, s, "")
			storeContents(b, v, tree, func(i int) io.ReadCloser {
				f, err := os.Open(filepath.Join(work, tree[i].Path))
				if err != nil {
					b.Fatal(err)
				}
				return f
			})
			addAll(b, v, tree)
			finish(b, v)
		}
	})
	b.Run("git add -A", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			dir := newRepository(b)
			b.StartTimer()
			for _, args := range [][]string{{"add", "-A"}, {"write-tree"}} {
				cmd := exec.Command("git", append([]string{"--git-dir", dir, "--work-tree", work}, args...)...)
				cmd.Dir, cmd.Env = work, gittest.Env()
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		}
	})
}
