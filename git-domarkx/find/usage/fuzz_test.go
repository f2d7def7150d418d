package usage

import (
	"bytes"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestCacheRoundTrip checks that decoding a cache reverses encoding.
func TestCacheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.Int64Range(0, 1<<40)
		sessions := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) session {
			s := session{tip: rapid.StringMatching(`[0-9a-f]{40}`).Draw(t, "tip"), agent: rapid.String().Draw(t, "agent"), first: rapid.Int64().Draw(t, "first")}
			s.rows = make([]answer, rapid.IntRange(0, 5).Draw(t, "rows"))
			for i := range s.rows {
				a := &s.rows[i]
				a.id, a.date = domarkx.ID{byte(i)}, rapid.Int64().Draw(t, "date")
				a.blob = oid.FromBytes([]byte{7, byte(i), 19: 0})
				if a.by = rapid.SampledFrom([]requester{nobody, anAgent, ourselves}).Draw(t, "by"); a.by == nobody {
					continue
				}
				a.model, a.branch = rapid.SampledFrom([]string{"", "m", "n"}).Draw(t, "model"), rapid.String().Draw(t, "branch")
				a.cost = rapid.Float64Range(0, 1e9).Draw(t, "cost")
				a.key = key{rapid.Byte().Draw(t, "key")}
				a.Tokens = prices.Tokens{Input: tokens.Draw(t, "in"), CacheRead: tokens.Draw(t, "read"), CacheWrite: tokens.Draw(t, "write"), Output: tokens.Draw(t, "out")}
			}
			return s
		}), 1, 4).Draw(t, "sessions")
		got := decodeCache(string(encodeCache(sessions)))
		if diff := cmp.Diff(sessions, got, cmp.AllowUnexported(session{}, answer{}, row{}, oid.ID{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzCache checks that no cache makes the decoder fail, and that its result is written back
// the same.
func FuzzCache(f *testing.F) {
	good := encodeCache([]session{{tip: "0123456789012345678901234567890123456789", agent: "a", rows: []answer{{row: row{by: anAgent, model: "m", cost: 1}}, {}}}})
	f.Add(good)
	f.Add([]byte{0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, body []byte) {
		first := encodeCache(decodeCache(string(body)))
		if again := encodeCache(decodeCache(string(first))); !bytes.Equal(first, again) {
			t.Error("the cache changes when it is written again")
		}
	})
}

// FuzzRead checks that no message makes the reader fail, and that counts are never negative.
func FuzzRead(f *testing.F) {
	f.Add([]byte("{\n  \"role\": \"assistant\",\n  \"message_metadata\": {\n    \"usage\": {\n      \"input\": 3\n    }\n  }\n}\n"))
	f.Add([]byte("{\n  \"message_metadata\": {\n  }"))
	f.Add([]byte("\n  \"message_metadata\": {\n\n  }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := read(data)
		if min(r.Input, r.CacheRead, r.CacheWrite, r.Output) < 0 || r.by == nobody && r != (row{}) && r.Tokens != (prices.Tokens{}) {
			t.Errorf("%+v", r)
		}
	})
}
