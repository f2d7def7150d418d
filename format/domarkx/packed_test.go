package domarkx_test

import (
	"fmt"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPackedEntries: entries are unpacked as they were packed, stored ones and others.
func TestPackedEntries(t *testing.T) {
	object := func(t *rapid.T, label string) string {
		return fmt.Sprintf("%x", rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, label))
	}
	sometimes := func(t *rapid.T, label string) bool { return rapid.IntRange(0, 3).Draw(t, label) == 0 }
	rapid.Check(t, func(t *rapid.T) {
		var packed domarkx.PackedEntries
		var want domarkx.EntryList
		n := rapid.SampledFrom([]int{0, 1, 5, 40, 1023, 1024, 1025, 2050}).Draw(t, "entries")
		for k := range n {
			e := domarkx.Entry{ID: domarkx.DeriveID(uint32(k), []byte(fmt.Sprint(k))), Role: domarkx.Assistant, Date: int64(1700000000 + k), JSON: domarkx.Blob{ID: fmt.Sprintf("%040x", k)}}
			e.Layout.Digest, e.Layout.Size = [32]byte{byte(k), 1}, int64(k)
			if k > 0 {
				e.After = want[k-1].ID
			}
			if k%16 == 0 || k == n-1 { // others are all alike
				vary(t, &e, object, sometimes)
			}
			packed.Append(e)
			want = append(want, e)
		}
		if packed.Len() != n {
			t.Fatalf("%d entries, expected %d", packed.Len(), n)
		}
		step := 1
		if testing.Short() {
			step = 16 // those that differ
		}
		for k := 0; k < n; k += step {
			if got := packed.At(k); !cmp.Equal(got, want[k], equateEmpty) {
				t.Fatalf("entry %d: %s", k, cmp.Diff(want[k], got))
			}
		}
	})
}

// vary makes an entry one that is seldom.
func vary(t *rapid.T, e *domarkx.Entry, object func(*rapid.T, string) string, sometimes func(*rapid.T, string) bool) {
	e.Role = rapid.SampledFrom([]domarkx.Role{domarkx.User, domarkx.Assistant, "", "other"}).Draw(t, "role")
	e.Date = rapid.Int64().Draw(t, "date")
	if sometimes(t, "after") {
		e.After = domarkx.DeriveID(7, []byte("other"))
	}
	if sometimes(t, "rev") {
		e.Rev = domarkx.Rev{1, 2}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "past") {
		e.Past = append(e.Past, domarkx.Rev{byte(i)})
	}
	if sometimes(t, "link") {
		e.Link = object(t, "version")
	}
	if sometimes(t, "verbatim") {
		e.Layout.Verbatim, e.Source.ID = true, object(t, "source")
	}
	if sometimes(t, "large") {
		e.JSON.Chunks, e.Source.Chunks = object(t, "chunks"), "x"
	}
	if sometimes(t, "data") {
		e.JSON = domarkx.Blob{Data: []byte("{}")}
	}
	if sometimes(t, "odd") {
		e.JSON.ID = rapid.SampledFrom([]string{"", "e1", "E000000000000000000000000000000000000000"}).Draw(t, "id")
	}
	e.Layout.Tail = domarkx.Tail(rapid.IntRange(0, 9).Draw(t, "tail"))
	e.Layout.Tight = sometimes(t, "tight")
	e.Layout.Size = rapid.Int64().Draw(t, "size")
	if sometimes(t, "fence") {
		e.Layout.Fence, e.Layout.Includes = "````", rapid.String().Draw(t, "includes")
	}
	if sometimes(t, "span") {
		e.Layout.Span, e.Layout.Within = rapid.Int().Draw(t, "span"), rapid.IntRange(0, 9).Draw(t, "within")
	}
}
