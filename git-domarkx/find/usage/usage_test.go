package usage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/find/usage"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/google/go-cmp/cmp"
)

// A store holds sessions in memory, and counts reads.
type store struct {
	sessions map[string][]domarkx.Entry // by snapshot
	blobs    map[string][]byte
	read     int
}

func (s *store) Entries(_ context.Context, id string) iter.Seq2[domarkx.Entry, error] {
	return func(yield func(domarkx.Entry, error) bool) {
		if s.sessions[id] == nil {
			yield(domarkx.Entry{}, domarkx.ErrCorrupt)
			return
		}
		for _, e := range s.sessions[id] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *store) Read(_ context.Context, b domarkx.Blob) ([]byte, error) {
	s.read++
	return s.blobs[b.ID], nil
}

// add adds a message of the assistant, whose metadata is JSON, to a snapshot.
func (s *store) add(snapshot string, id byte, date int64, metadata string) {
	v, err := jsonvalue.ParseValue([]byte(metadata))
	if err != nil {
		panic(err)
	}
	m := domarkx.Message{Role: domarkx.Assistant, Metadata: &v, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "\n  \"message_metadata\": {\n"}}}
	data := append(m.Value().AppendJSON(nil, "", "  "), '\n')
	blob := fmt.Sprintf("%040x", len(s.blobs)+1)
	for old, known := range s.blobs {
		if bytes.Equal(known, data) {
			blob = old
		}
	}
	s.blobs[blob] = data
	s.sessions[snapshot] = append(s.sessions[snapshot], domarkx.Entry{ID: domarkx.ID{15: id}, Role: domarkx.Assistant, Date: date, JSON: domarkx.Blob{ID: blob}})
}

func newStore() *store {
	return &store{sessions: map[string][]domarkx.Entry{}, blobs: map[string][]byte{}}
}

const (
	tipA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tipB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	tipC = "cccccccccccccccccccccccccccccccccccccccc"
)

func reader(s *store, dir string) *usage.Reader {
	return &usage.Reader{Store: s, Dir: dir, Agent: func(_ context.Context, i domarkx.Info) string { return "agent-" + i.Name }}
}

func TestResponses(t *testing.T) {
	tests := map[string]struct {
		metadata string
		want     usage.Response // without session and date
		none     bool
	}{
		"all": {metadata: `{"id":"u","model":"m","usage":{"input":1,"cache_read":2,"cache_write":3,"output":4,"reasoning":2},"git_branch":"b","cost":0.5}`,
			want: usage.Response{Agent: "agent-s", Model: "m", Branch: "b", Cost: 0.5, Tokens: prices.Tokens{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4}}},
		"of chat":        {metadata: `{"provider":"openai","model":"m","usage":{"input":1}}`, want: usage.Response{Agent: "chat", Model: "m", Tokens: prices.Tokens{Input: 1}}},
		"no model":       {metadata: `{"usage":{"output":1}}`, want: usage.Response{Agent: "agent-s", Tokens: prices.Tokens{Output: 1}}},
		"cost of 0":      {metadata: `{"cost":0,"usage":{"output":1}}`, want: usage.Response{Agent: "agent-s", Tokens: prices.Tokens{Output: 1}}},
		"nothing used":   {metadata: `{"model":"<synthetic>","usage":{"input":0,"output":0}}`, none: true},
		"no usage":       {metadata: `{"model":"m"}`, none: true},
		"empty":          {metadata: `{}`, none: true},
		"of other types": {metadata: `{"model":7,"usage":{"input":"1","cache_read":-5,"cache_write":1e300,"output":[]}}`, none: true},
		"not an object":  {metadata: `{"usage":[1]}`, none: true},
		"cost is text":   {metadata: `{"cost":"1","usage":{"input":2e3}}`, want: usage.Response{Agent: "agent-s", Tokens: prices.Tokens{Input: 2000}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			s.add(tipA, 1, 99, test.metadata)
			info := []domarkx.Info{{Name: "s", ID: tipA}}
			got, err := reader(s, "").Responses(t.Context(), info, info)
			want := []usage.Response{}
			if !test.none {
				test.want.Session, test.want.Date = "s", 99
				want = append(want, test.want)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(usage.Response{})); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
			dir := t.TempDir()
			for range 2 { // the second time from the cache
				got, err = reader(s, dir).Responses(t.Context(), info, info)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(usage.Response{})); diff != "" || err != nil || s.read != 2 {
					t.Errorf("with a cache, %d reads: %v\n%s", s.read, err, diff)
				}
			}
		})
	}
}

// TestOnce checks that a response that several sessions share counts once, for the session
// that began first.
func TestOnce(t *testing.T) {
	s := newStore()
	s.add(tipA, 1, 50, `{"id":"x","usage":{"input":1}}`)
	s.add(tipA, 2, 60, `{"usage":{"input":10}}`)
	s.add(tipB, 1, 20, `{"id":"x","usage":{"input":1}}`) // the same message
	s.add(tipB, 3, 30, `{"id":"y","response_id":"r","usage":{"input":100}}`)
	s.add(tipB, 2, 60, `{"usage":{"input":1000}}`)                           // the same message, edited
	s.add(tipC, 4, 40, `{"id":"z","response_id":"r","usage":{"input":100}}`) // the agent's own fork
	s.add(tipC, 5, 41, `{"id":"r","usage":{"input":10000}}`)                 // not that response
	infos := []domarkx.Info{{Name: "a", ID: tipA}, {Name: "b", ID: tipB}, {Name: "c", ID: tipC}}
	got, err := reader(s, "").Responses(t.Context(), infos, infos)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]int64{}
	for _, r := range got {
		of[r.Session] = append(of[r.Session], r.Input)
	}
	if diff := cmp.Diff(map[string][]int64{"b": {1, 100, 1000}, "c": {10000}}, of); diff != "" {
		t.Error(diff)
	}
	got, err = reader(s, "").Responses(t.Context(), infos[:1], infos)
	if err != nil || len(got) != 2 || got[0].Session != "a" {
		t.Errorf("a alone: %+v, %v", got, err)
	}
}

// TestCache checks that a second count reads nothing, that one after a change reads only new
// messages, and that any damage of the cache changes no result.
func TestCache(t *testing.T) {
	dir := t.TempDir()
	s := newStore()
	for i := range byte(40) {
		s.add(tipA, i, int64(i), fmt.Sprintf(`{"id":"%d","model":"m%d","git_branch":"b","cost":%d.5,"usage":{"input":%d,"cache_read":9}}`, i, i%3, i, i))
	}
	s.add(tipA, 60, 1, `{"model":"no usage"}`)
	s.add(tipB, 70, 1, `{"provider":"p","usage":{"output":7}}`)
	infos := []domarkx.Info{{Name: "a", ID: tipA}, {Name: "b", ID: tipB}}
	count := func(infos []domarkx.Info) []usage.Response {
		t.Helper()
		got, err := reader(s, dir).Responses(t.Context(), infos, infos)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := count(infos)
	if s.read != 42 || len(want) != 41 {
		t.Fatalf("%d messages read, %d responses", s.read, len(want))
	}
	same := func(got []usage.Response) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(usage.Response{})); diff != "" {
			t.Error(diff)
		}
	}
	same(count(infos))
	if s.read != 42 {
		t.Errorf("%d messages read again", s.read-42)
	}
	// A snapshot with one more message
	s.sessions[tipC] = slices.Clone(s.sessions[tipA])
	s.add(tipC, 80, 2, `{"usage":{"input":1}}`)
	grown := []domarkx.Info{{Name: "a", ID: tipC}, infos[1]}
	if got := count(grown); len(got) != 42 || s.read != 43 {
		t.Errorf("%d responses, %d messages read", len(got), s.read)
	}
	// Only one session is selected; the other one stays in the cache
	if _, err := reader(s, dir).Responses(t.Context(), infos[:1], append(infos[:1:1], grown...)); err != nil {
		t.Error(err)
	}
	count(grown)
	if s.read != 43 {
		t.Errorf("%d messages read again", s.read-43)
	}
	path := filepath.Join(dir, "usage-cache")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 37
	if testing.Short() {
		step = 257
	}
	for cut := 0; cut < len(whole); cut += step {
		damaged := slices.Clone(whole)
		damaged[cut] ^= 1 << (cut % 8)
		for _, data := range [][]byte{whole[:cut], damaged} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			same(count(infos))
		}
	}
}

// TestUnreadable checks that a session that cannot be read is reported, and that the others are counted.
// TestTokens checks that each session has the tokens of its own responses, also of those that another one shares, and that two
// records of one response count once.
func TestTokens(t *testing.T) {
	s := newStore()
	s.add(tipA, 1, 99, `{"response_id":"r","usage":{"input":1,"cache_read":2,"cache_write":3,"output":4}}`)
	s.add(tipA, 2, 99, `{"response_id":"r","usage":{"input":1,"cache_read":2,"cache_write":3,"output":4}}`)
	s.add(tipB, 1, 99, `{"response_id":"r","usage":{"input":1,"cache_read":2,"cache_write":3,"output":4}}`)
	s.add(tipB, 3, 99, `{"usage":{"output":5}}`)
	list := []domarkx.Info{{Name: "a", ID: tipA}, {Name: "b", ID: tipB}}
	dir := t.TempDir()
	for range 2 { // the second time from the cache
		got, err := reader(s, dir).Tokens(t.Context(), list, list)
		if diff := cmp.Diff(map[string]int64{tipA: 10, tipB: 15}, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

func TestUnreadable(t *testing.T) {
	s := newStore()
	s.add(tipA, 1, 1, `{"usage":{"input":1}}`)
	infos := []domarkx.Info{{Name: "a", ID: tipA}, {Name: "bad", ID: tipB}}
	got, err := reader(s, t.TempDir()).Responses(t.Context(), infos, infos)
	if !errors.Is(err, domarkx.ErrCorrupt) || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTotal(t *testing.T) {
	day := func(d int) int64 { return time.Date(2026, 3, d, 12, 0, 0, 0, time.Local).Unix() }
	responses := []usage.Response{
		{Session: "s", Agent: "x", Model: "gpt-5-pro", Branch: "b", Date: day(2), Tokens: prices.Tokens{Input: 1e6, Output: 1e6}},
		{Session: "r", Agent: "x", Model: "gpt-5-pro", Date: day(1), Cost: 1, Tokens: prices.Tokens{CacheRead: 5}},
		{Session: "s", Model: "mine", Date: day(1), Tokens: prices.Tokens{CacheWrite: 7}},
		{Session: "s", Date: day(3), Tokens: prices.Tokens{Output: 2}},
	}
	tests := map[usage.Key][]usage.Sum{
		usage.BySession: {{"r", 1, prices.Tokens{CacheRead: 5}, 1, 1}, {"s", 3, prices.Tokens{Input: 1e6, CacheWrite: 7, Output: 1e6 + 2}, 135, 1}},
		usage.ByAgent:   {{"-", 2, prices.Tokens{CacheWrite: 7, Output: 2}, 0, 0}, {"x", 2, prices.Tokens{Input: 1e6, CacheRead: 5, Output: 1e6}, 136, 2}},
		usage.ByModel:   {{"-", 1, prices.Tokens{Output: 2}, 0, 0}, {"gpt-5-pro", 2, prices.Tokens{Input: 1e6, CacheRead: 5, Output: 1e6}, 136, 2}, {"mine", 1, prices.Tokens{CacheWrite: 7}, 0, 0}},
		usage.ByDay:     {{"2026-03-01", 2, prices.Tokens{CacheRead: 5, CacheWrite: 7}, 1, 1}, {"2026-03-02", 1, prices.Tokens{Input: 1e6, Output: 1e6}, 135, 1}, {"2026-03-03", 1, prices.Tokens{Output: 2}, 0, 0}},
		usage.ByBranch:  {{"-", 3, prices.Tokens{CacheRead: 5, CacheWrite: 7, Output: 2}, 1, 1}, {"b", 1, prices.Tokens{Input: 1e6, Output: 1e6}, 135, 1}},
	}
	for by, want := range tests {
		got, unpriced, err := usage.Total(responses, by, prices.New(nil))
		if err != nil || !slices.Equal(unpriced, []string{"-", "mine"}) {
			t.Errorf("by %s: %v, %v", by, unpriced, err)
		}
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
			t.Errorf("by %s:\n%s", by, diff)
		}
	}
	between := usage.Between(responses, time.Unix(day(1), 0), time.Unix(day(2), 0))
	if len(between) != 2 || len(usage.Between(responses, time.Time{}, time.Time{})) != 4 {
		t.Errorf("between: %+v", between)
	}
}
