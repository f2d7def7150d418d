// Package codectest generates threads for tests.
package codectest

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
)

// DrawThread returns a random thread in its defined order, with conflicts and tombstones.
func DrawThread(t *rapid.T, most int) *domarkx.Thread {
	var thread domarkx.Thread
	ids := []domarkx.ID{{}}
	for range rapid.IntRange(0, most).Draw(t, "messages") {
		id := domarkx.NewID(uint32(rapid.IntRange(0, 3).Draw(t, "clock")), time.Unix(1700000000, 0).UTC())
		copy(id[4:], rapid.SliceOfN(rapid.Byte(), 12, 12).Draw(t, "id"))
		if slices.Contains(ids, id) || id.IsZero() {
			continue
		}
		after := rapid.SampledFrom(ids).Draw(t, "after")
		ids = append(ids, id)
		if rapid.IntRange(0, 5).Draw(t, "dead") == 0 {
			thread.Dead = append(thread.Dead, domarkx.Tombstone{ID: id, After: after, Past: []domarkx.Rev{{}}})
			continue
		}
		texts := 1
		if rapid.IntRange(0, 7).Draw(t, "conflict") == 0 {
			texts = 2
		}
		for n := range texts {
			thread.Live = append(thread.Live, drawEntry(t, id, after, n))
		}
	}
	return domarkx.Merge(&thread, &thread)
}

func drawEntry(t *rapid.T, id, after domarkx.ID, text int) domarkx.Entry {
	e := domarkx.Entry{ID: id, After: after, Role: rapid.SampledFrom([]domarkx.Role{domarkx.User, domarkx.Assistant}).Draw(t, "role"),
		Date: rapid.Int64().Draw(t, "date"), JSON: domarkx.Blob{Data: []byte(rapid.String().Draw(t, "json"))}}
	if text > 0 {
		e.Rev = domarkx.Rev{byte(text)}
	}
	if rapid.Bool().Draw(t, "edited") {
		e.Past = []domarkx.Rev{{0xfe}}
	}
	if rapid.IntRange(0, 9).Draw(t, "linked") == 0 {
		e.Link = strings.Repeat("0a", 20)
	}
	if rapid.Bool().Draw(t, "written") {
		e.Layout = domarkx.Layout{
			Size:   rapid.Int64Range(0, 1<<40).Draw(t, "size"),
			Tail:   domarkx.Tail(rapid.IntRange(0, 3).Draw(t, "tail")),
			Fence:  rapid.SampledFrom([]string{"", "```", "~~~~", "> ```"}).Draw(t, "fence"),
			Tight:  rapid.Bool().Draw(t, "tight"),
			Span:   rapid.IntRange(0, 3).Draw(t, "span"),
			Within: rapid.IntRange(0, 3).Draw(t, "within"),
		}
		copy(e.Layout.Digest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		if rapid.Bool().Draw(t, "verbatim") {
			e.Layout.Verbatim = true
			e.Source = domarkx.Blob{Data: []byte(rapid.String().Draw(t, "source"))}
		}
	}
	return e
}
