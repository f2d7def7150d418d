package events_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

func TestAuthorOf(t *testing.T) {
	known := &domarkx.Observation{Calls: []string{"c"}}
	for _, c := range []struct {
		operation string
		observed  *domarkx.Observation
		want      events.Author
	}{
		{"create", nil, events.Person}, {"setup", nil, events.Person}, {"change", known, events.Person}, {"merge", nil, events.Person},
		{events.Prompt, known, events.Person}, {events.Rewind, nil, events.Person},
		{"call", nil, events.Calls}, {events.Batch, known, events.Calls},
		{events.Batch, &domarkx.Observation{}, events.Agent}, {events.Batch, nil, events.Agent}, {events.Turn, known, events.Agent},
	} {
		if got := events.AuthorOf(domarkx.Version{Operation: c.operation, Observed: c.observed}); got != c.want {
			t.Errorf("%s %+v: %d, want %d", c.operation, c.observed, got, c.want)
		}
	}
	for want, v := range map[bool][]domarkx.Version{true: {{Overlap: domarkx.Overlap{Late: true}}, {Overlap: domarkx.Overlap{Shared: []string{"w"}}}}, false: {{}}} {
		for _, v := range v {
			if got := events.IsMixed(v); got != want {
				t.Errorf("%+v is mixed: %v", v, got)
			}
		}
	}
}

// TestSort gives each event as WORKSPACE NUMBER DATE OPERATION.
func TestSort(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"by date":                           {"a 1 20 call; b 1 10 change", "b1 a1"},
		"by number":                         {"a 2 10 call; a 1 10 call", "a1 a2"},
		"agents first in a second":          {"a 1 10 change; b 1 10 turn", "b1 a1"},
		"a person before an agent's call":   {"a 1 10 change; a 2 10 call; b 1 10 change", "a1 a2 b1"},
		"a person after an agent's call":    {"a 1 10 call; a 2 10 change; b 2 10 call", "a1 b2 a2"},
		"a person's of another second":      {"a 1 9 change; b 1 10 call", "a1 b1"},
		"one workspace, a person and calls": {"a 3 10 call; a 1 10 prompt; a 2 10 batch", "a1 a2 a3"},
	} {
		var list []events.Event
		for item := range strings.SplitSeq(c.in, "; ") {
			f := strings.Fields(item)
			number, date := int(f[1][0]-'0'), int64(0)
			for _, digit := range f[2] {
				date = date*10 + int64(digit-'0')
			}
			list = append(list, events.Event{Workspace: f[0], Version: domarkx.Version{ID: f[0] + f[1], Number: number, Date: date, Operation: f[3]}})
		}
		events.Sort(list, func(e events.Event) events.Event { return e })
		var got []string
		for _, e := range list {
			got = append(got, e.Version.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

func TestThread(t *testing.T) {
	entry := func(role domarkx.Role, link string, date int64) domarkx.Entry {
		return domarkx.Entry{Role: role, Link: link, Date: date}
	}
	thread := events.NewThread([]domarkx.Entry{
		entry(domarkx.User, "v1", 1), entry(domarkx.Assistant, "", 2), entry(domarkx.Assistant, "v2", 3),
		entry(domarkx.Assistant, "v2", 4), entry(domarkx.Assistant, "v2", 9), entry(domarkx.User, "", 10), entry(domarkx.Assistant, "v3", 11),
	})
	if _, ok := thread.MessageOf(""); ok || len(thread.Versions()) != 3 {
		t.Errorf("linked versions: %v", thread.Versions())
	}
	for _, c := range []struct {
		name        string
		version     domarkx.Version
		k           int
		first, last int
	}{
		{"a call's", domarkx.Version{ID: "v2", Operation: "call", Date: 5}, 2, 1, 2},
		{"a batch of known calls", domarkx.Version{ID: "v2", Operation: events.Batch, Date: 5, Observed: &domarkx.Observation{Calls: []string{"c"}}}, 2, 1, 2},
		{"a turn's, by its time", domarkx.Version{ID: "v2", Operation: events.Turn, Date: 5, Observed: &domarkx.Observation{}}, 2, 1, 3},
		{"after a user's message", domarkx.Version{ID: "v3", Operation: "call"}, 6, 6, 6},
	} {
		k, ok := thread.MessageOf(c.version.ID)
		first, last := thread.Span(c.version, k)
		if !ok || k != c.k || first != c.first || last != c.last {
			t.Errorf("%s: message %d, calls of %d to %d; want %d, %d to %d", c.name, k, first, last, c.k, c.first, c.last)
		}
	}
}
