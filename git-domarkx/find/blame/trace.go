package blame

import (
	"context"

	"github.com/domarkx/domarkx/git-domarkx/events"
)

// A place pairs a line of an older text (at) with the line of the file that came from it (line).
type place struct{ at, line int }

// A trace follows the lines of a file back through the history.
type trace struct {
	s     *survey
	past  *history
	path  string
	found []Origin
	known []bool // whether an origin was found
}

// named returns a trace of the same lines for the time when the file had another path.
func (t *trace) named(ctx context.Context, path string) (*trace, error) {
	if path == t.path {
		return t, nil
	}
	past, err := t.s.history(ctx, path)
	return &trace{s: t.s, past: past, path: path, found: t.found, known: t.known}, err
}

// follow finds the origins of lines of a text. It considers only the events before limit.
func (t *trace) follow(ctx context.Context, now content, limit int, open []place) error {
	for len(open) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := t.made(now.id, limit)
		if i >= 0 && t.past.events[i].before == "" {
			var err error
			if open, err = t.renamed(ctx, t.past.events[i], now, open); err != nil || len(open) == 0 {
				return err
			}
		}
		if i < 0 || t.past.events[i].isPerson() {
			var err error
			if limit, now, open, err = t.nearest(ctx, now, i, limit, open); err != nil {
				return err
			}
			continue
		}
		e := t.past.events[i]
		old, err := t.s.m.content(ctx, t.past, e.before)
		if err != nil {
			return err
		}
		to := match(old.lines, now.lines)
		rest, written := mapPlaces(open, to)
		if len(e.Version.Parents) == 0 { // committed lines are older than the first version
			written = t.uncommitted(ctx, e.Version.Observed, now, written)
		}
		if len(written) > 0 {
			origin, err := t.origin(ctx, i)
			if err != nil {
				return err
			}
			for _, p := range written {
				t.found[p.line], t.known[p.line] = origin, true
			}
		}
		now, open, limit = old, rest, i
	}
	return nil
}

// made returns the index of the first event before limit that produced a content, or -1. If a
// person's event is the first but can have changes by agents, made returns the first event of a
// session instead, whose version may have been taken later. So it does for one of the same second: dates have no
// finer resolution, and a person's version includes the files that a session of another workspace left.
func (t *trace) made(id string, limit int) int {
	first := -1
	for _, i := range t.past.byBlob[id] {
		if i >= limit {
			break
		}
		e := t.past.events[i]
		if first < 0 {
			first = i
		}
		if e.isPerson() {
			continue
		}
		if f := t.past.events[first]; f.isPerson() && !events.IsMixed(f.Version) && f.Version.Date < e.Version.Date {
			return first
		}
		return i
	}
	return first
}

// nearest returns the content that is most similar to a text, the new limit and the lines that both
// contain. It searches the contents that the workspaces had just before event i, or all before
// limit if i < 0. Other lines are a person's and get no origin, or are [Unclear] if agents may have made event i, too.
func (t *trace) nearest(ctx context.Context, now content, i, limit int, open []place) (int, content, []place, error) {
	candidates := t.candidates(i, limit)
	best, most := -1, 0
	var closest content
	bag := bagOf(now.lines)
	for _, c := range candidates {
		other, err := t.s.m.content(ctx, t.past, t.past.events[c].blob)
		if err != nil {
			return 0, now, nil, err
		}
		equal := common(bag, other.lines)
		if t.past.events[c].elsewhere && 2*equal < min(len(other.lines), len(now.lines)) {
			continue
		}
		if n := 2*equal - len(other.lines); best < 0 || n > most {
			best, most, closest = c, n, other
		}
	}
	var rest []place
	gone := open
	if best >= 0 {
		rest, gone = mapPlaces(open, match(closest.lines, now.lines))
	}
	if i >= 0 && events.IsMixed(t.past.events[i].Version) {
		v := t.past.events[i].Version
		if best < 0 {
			gone = t.uncommitted(ctx, v.Observed, now, gone)
		}
		for _, p := range gone {
			t.found[p.line], t.known[p.line] = Origin{Source: Unclear, Message: -1, Date: v.Date, Version: v.ID}, true
		}
	}
	return best + 1, closest, rest, nil
}

// mapPlaces returns the places of lines in a content that has line to[i] where this one has line i, and the
// lines that it does not have.
func mapPlaces(open []place, to []int) (there, gone []place) {
	for _, p := range open {
		if to[p.at] >= 0 {
			there = append(there, place{to[p.at], p.line})
		} else {
			gone = append(gone, p)
		}
	}
	return there, gone
}

// candidates returns the indexes of events with contents that a text can derive from: the last
// event of each workspace before event i, or all events before limit if i < 0.
func (t *trace) candidates(i, limit int) []int {
	var list []int
	last := map[string]bool{}
	if i >= 0 {
		limit = i
	}
	for c := limit - 1; c >= 0; c-- {
		e := t.past.events[c]
		if i >= 0 && last[e.Workspace] {
			continue
		}
		last[e.Workspace] = true
		if e.blob != "" {
			list = append(list, c)
		}
	}
	return list
}
