package integration_test

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// BenchmarkBlobs compares reading packed blobs through the object database, as the mount
// does, with git cat-file.
func BenchmarkBlobs(b *testing.B) {
	const blobs = 50000
	s := newRepository(b)
	var stream strings.Builder
	for i := range blobs {
		content := document(fmt.Sprintf("blob %d", i), 1+i%20)
		fmt.Fprintf(&stream, "blob\nmark :%d\ndata %d\n%s\n", i+1, len(content), content)
	}
	s.must(stream.String(), "git", "fast-import", "--quiet", "--export-marks="+s.path("marks"))
	s.git("repack", "-adkq")
	names := strings.Fields(s.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	if len(names) != blobs {
		b.Fatalf("%d blobs in the pack, not %d", len(names), blobs)
	}
	ids := make([]odb.ID, len(names))
	for i, name := range names {
		var err error
		if ids[i], err = odb.ParseID(name); err != nil {
			b.Fatal(err)
		}
	}
	input := strings.Join(names, "\n") + "\n"
	times := race(7, func() {
		d, err := odb.Open(s.path(".git")+"/objects", oid.SHA1)
		if err != nil {
			b.Fatal(err)
		}
		for _, id := range ids {
			if _, err := d.Blob(id); err != nil {
				b.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}, func() {
		cmd := exec.Command("git", "cat-file", "--batch", "--buffer")
		cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(input)
		cmd.Stdout = io.Discard // through a pipe, as a program would read it
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	})
	score(b, "reading 50,000 packed blobs: time, against git cat-file --batch --buffer", ratio(times[0], times[1]), 1.15, "x")
	score(b, "reading 50,000 packed blobs: time", milliseconds(times[0]), 0, "ms")
}
