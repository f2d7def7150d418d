package recording

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The times after which a change of a transcript is recorded. Agents write a turn in many small
// pieces; each pause of a second ends a snapshot.
const (
	quiet   = time.Second             // pause without a change after which a transcript is due
	longest = 1400 * time.Millisecond // maximum delay after the first unrecorded change, for a file that changes all the time
	settle  = 200 * time.Millisecond  // as quiet, after a hook reported the end of the turn
)

// A schedule holds the changed transcripts, by path, with the times that decide when each is due.
type schedule map[string]*due

type due struct {
	first, last time.Time // times of the first and the last unrecorded change
	ended       bool      // the turn ended
}

// changed notes that a transcript changed.
func (s schedule) changed(file string, now time.Time) {
	d := s[file]
	if d == nil {
		d = &due{first: now}
		s[file] = d
	}
	d.last = now
}

// ended notes that the turn of a session ended. Agents put the session's id in the path of its
// transcript.
func (s schedule) ended(session string) {
	for file, d := range s {
		if session != "" && strings.Contains(file, session) {
			d.ended = true
		}
	}
}

// at returns when a transcript is due.
func (d *due) at() time.Time {
	at := d.last.Add(quiet)
	if d.ended {
		at = d.last.Add(settle)
	}
	if last := d.first.Add(longest); last.Before(at) {
		return last
	}
	return at
}

// next returns when the next transcript is due, and whether there is one.
func (s schedule) next() (at time.Time, ok bool) {
	for _, d := range s {
		if t := d.at(); !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// take removes and returns up to most of the transcripts that are due, the first ones first.
func (s schedule) take(now time.Time, most int) []string {
	var files []string
	for file, d := range s {
		if !d.at().After(now) {
			files = append(files, file)
		}
	}
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Or(s[a].at().Compare(s[b].at()), strings.Compare(a, b))
	})
	files = files[:min(len(files), most)]
	for _, file := range files {
		delete(s, file)
	}
	return files
}
