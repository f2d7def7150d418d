package odb_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// document returns a document of n parts, and the parts as messages.
func document(n, parts int) (whole []byte, each [][]byte) {
	var b bytes.Buffer
	for i := range parts {
		said := fmt.Sprintf("%x", noise(uint64(n*parts+i), 400))
		fmt.Fprintf(&b, "{\"id\": %d, \"text\": \"%s\"},\n", i, said)
		each = append(each, fmt.Appendf(nil, "{\n  \"role\": \"user\",\n  \"text\": \"%s\"\n}\n", said))
	}
	return b.Bytes(), each
}

// A record lists the objects that were added to a batch.
type record struct {
	ids      []odb.ID
	contents map[odb.ID][]byte
}

// recorder returns an empty record, and a function that adds to the batch and the record.
func recorder(t *testing.T) (*record, func(add func([]byte) (odb.ID, error), data []byte)) {
	r := &record{contents: map[odb.ID][]byte{}}
	return r, func(add func([]byte) (odb.ID, error), data []byte) {
		t.Helper()
		id, err := add(data)
		must(t, err)
		r.contents[id] = data
		r.ids = append(r.ids, id)
	}
}

// TestAddSimilar checks that parts of documents become deltas that Git can read and keeps, also if
// the documents are larger than the memory of the window.
func TestAddSimilar(t *testing.T) {
	const parts, deltas = 6_000, "5"
	for _, documents := range []int{1, 12} {
		dir := bare(t)
		d := open(t, dir)
		batch := d.Begin()
		added, put := recorder(t)
		for n := range documents {
			whole, each := document(n, parts/documents)
			for len(whole) > 0 {
				size := min(len(whole), 70_000)
				put(batch.AddBase, whole[:size])
				whole = whole[size:]
			}
			for i, part := range each {
				if i < 2000 || i > 2200 { // as if an import had skipped some
					put(batch.AddSimilar, part)
				}
			}
		}
		tip := commit(t, batch, odb.ID{}, added.ids...)
		must(t, batch.Sync())
		git(t, dir, "update-ref", "refs/heads/main", tip.String())
		must(t, batch.Settle())

		idx, err := filepath.Glob(dir + "/objects/pack/*.idx")
		must(t, err)
		listed := git(t, dir, "verify-pack", "-v", idx[0])
		if !strings.Contains(listed, "chain length = 1: "+deltas) || strings.Contains(listed, "chain length = 2") {
			t.Errorf("%d documents: not every part became a delta of a whole document: %s", documents, listed[strings.Index(listed, "non delta"):])
		}
		git(t, dir, "fsck", "--strict", "--full")
		for _, id := range added.ids[len(added.ids)/2:] {
			if got, err := d.Blob(id); err != nil || !bytes.Equal(got, added.contents[id]) {
				t.Fatalf("%s: other content, %v", id, err)
			}
		}
		git(t, dir, "gc", "--quiet") // keeps the deltas
		for id, want := range added.contents {
			if got, err := d.Blob(id); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: other content, %v", id, err)
			}
		}
		git(t, dir, "fsck", "--strict", "--full")
	}
}

// BenchmarkAddSimilar stores documents and their parts.
func BenchmarkAddSimilar(b *testing.B) {
	whole, parts := document(1, 10_000)
	b.SetBytes(int64(len(whole)))
	for b.Loop() {
		b.StopTimer()
		batch := open(b, bare(b)).Begin()
		b.StartTimer()
		for at := 0; at < len(whole); at += 64 << 10 {
			_, err := batch.AddBase(whole[at:min(len(whole), at+64<<10)])
			must(b, err)
			for _, part := range parts[at*len(parts)/len(whole) : min(len(whole), at+64<<10)*len(parts)/len(whole)] {
				_, err := batch.AddSimilar(part)
				must(b, err)
			}
		}
		must(b, batch.Sync())
		must(b, batch.Settle())
	}
}

// TestAddSimilarShortAndEscaped checks that short blobs become deltas of similar short blobs, and that
// blobs with additional backslashes become deltas of their base.
func TestAddSimilarShortAndEscaped(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	batch := d.Begin()
	added, put := recorder(t)
	for i := range 3000 {
		put(batch.AddSimilar, fmt.Appendf(nil, "{\n  \"role\": \"%s\",\n  \"message_metadata\": {\n    \"entry\": {\n      \"id\": \"%x\"\n    }\n  },\n  \"content\": \"%d\"\n}\n",
			[]string{"user", "assistant"}[i%2], noise(uint64(i), 4), i))
	}
	const texts = 20
	for i := range texts {
		var text strings.Builder
		for line := range 100 {
			fmt.Fprintf(&text, `\tif \"%x\" != %d {\n`, noise(uint64(i*100+line), 12), line)
		}
		put(batch.AddBase, []byte(strings.Repeat(" ", 100)+text.String()))
		put(batch.AddSimilar, []byte("{"+strings.ReplaceAll(text.String(), `\`, `\\`)+"}"))
	}
	tip := commit(t, batch, odb.ID{}, added.ids...)
	must(t, batch.Sync())
	git(t, dir, "update-ref", "refs/heads/main", tip.String())
	must(t, batch.Settle())
	idx, err := filepath.Glob(dir + "/objects/pack/*.idx")
	must(t, err)
	listed := git(t, dir, "verify-pack", "-v", idx[0])
	if want := fmt.Sprintf("chain length = 1: %d objects", 3000-2+texts); !strings.Contains(listed, want) || strings.Contains(listed, "chain length = 2") {
		t.Errorf("expected %q: %s", want, listed[strings.Index(listed, "non delta"):])
	}
	git(t, dir, "fsck", "--strict", "--full")
	for id, want := range added.contents {
		if got, err := d.Blob(id); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: other content, %v", id, err)
		}
	}
}
