package odb_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

const benchBlobs = 50_000

func benchBlob(i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "message %d says something of its own, %x\n", i, uint64(i)*0x9e3779b97f4a7c15), 6)
}

// BenchmarkReadPacked reads 50,000 packed blobs, with this package, Git and go-git.
func BenchmarkReadPacked(b *testing.B) {
	dir := bare(b)
	fastImport(b, dir)
	names := strings.Fields(git(b, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	ids := make([]odb.ID, len(names))
	for i, name := range names {
		ids[i] = id(b, name)
	}
	b.Run("odb", func(b *testing.B) {
		for b.Loop() {
			d, err := odb.Open(dir+"/objects", oid.SHA1)
			must(b, err)
			for _, name := range ids {
				if _, _, err := d.Read(name); err != nil {
					b.Fatal(err)
				}
			}
			must(b, d.Close())
		}
	})
	b.Run("odb-sizes", func(b *testing.B) {
		for b.Loop() {
			d, err := odb.Open(dir+"/objects", oid.SHA1)
			must(b, err)
			for _, name := range ids {
				if _, _, err := d.Size(name); err != nil {
					b.Fatal(err)
				}
			}
			must(b, d.Close())
		}
	})
	b.Run("go-git", func(b *testing.B) {
		for b.Loop() {
			s := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(512*cache.MiByte), filesystem.Options{KeepDescriptors: true})
			for _, name := range ids {
				o, err := s.EncodedObject(plumbing.AnyObject, plumbing.Hash(name.Bytes()))
				must(b, err)
				r, err := o.Reader()
				must(b, err)
				_, err = io.Copy(io.Discard, r)
				must(b, errors.Join(err, r.Close()))
			}
			must(b, s.Close())
		}
	})
	list := strings.Join(names, "\n") + "\n"
	for _, format := range []string{"--batch", "--batch-check"} {
		b.Run("git cat-file "+format, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("git", "cat-file", format, "--buffer")
				cmd.Dir = dir
				cmd.Stdin = strings.NewReader(list)
				must(b, cmd.Run())
			}
		})
	}
}

// BenchmarkReadLoose reads 2,000 loose blobs.
func BenchmarkReadLoose(b *testing.B) {
	dir := bare(b)
	d := open(b, dir)
	batch := d.Begin()
	var ids []odb.ID
	for i := range 2000 {
		ids = append(ids, add(b, batch, odb.Blob, benchBlob(i)))
	}
	must(b, batch.Sync())
	must(b, batch.Settle())
	unpack(b, dir)
	for b.Loop() {
		for _, name := range ids {
			if _, err := d.Blob(name); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func fastImport(b *testing.B, dir string) {
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	must(b, err)
	must(b, cmd.Start())
	out := bufio.NewWriterSize(in, 1<<16)
	for i := range benchBlobs {
		data := benchBlob(i)
		fmt.Fprintf(out, "blob\ndata %d\n%s\n", len(data), data)
	}
	must(b, out.Flush())
	must(b, in.Close())
	must(b, cmd.Wait())
}

// BenchmarkWriteBulk writes 50,000 blobs, with this package and with Git.
func BenchmarkWriteBulk(b *testing.B) {
	b.Run("odb", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			d := open(b, bare(b))
			b.StartTimer()
			batch := d.Begin()
			for i := range benchBlobs {
				add(b, batch, odb.Blob, benchBlob(i))
			}
			must(b, batch.Sync())
			must(b, batch.Settle())
		}
	})
	b.Run("git fast-import", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			dir := bare(b)
			b.StartTimer()
			fastImport(b, dir)
		}
	})
}

// BenchmarkWriteTurn writes the nine objects of an appended message durably.
func BenchmarkWriteTurn(b *testing.B) {
	d := open(b, bare(b))
	n := 0
	for b.Loop() {
		batch := d.Begin()
		for range 9 {
			add(b, batch, odb.Blob, benchBlob(n))
			n++
		}
		must(b, batch.Sync())
		must(b, batch.Settle())
		must(b, d.Consolidate())
	}
}

// BenchmarkOpen opens a database and reads one loose object.
func BenchmarkOpen(b *testing.B) {
	dir := bare(b)
	blob := id(b, gitInput(b, dir, "hello", "hash-object", "-w", "--stdin"))
	for b.Loop() {
		d, err := odb.Open(dir+"/objects", oid.SHA1)
		must(b, err)
		_, err = d.Blob(blob)
		must(b, err)
		must(b, d.Close())
	}
}
