package recording

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(d time.Duration) time.Time { return start.Add(d) }

func TestSchedule(t *testing.T) {
	tests := []struct {
		name    string
		changes []time.Duration
		ended   bool
		due     time.Duration
	}{
		{"a quiet second after one change", []time.Duration{0}, false, time.Second},
		{"a quiet second after the last change", []time.Duration{0, 300 * time.Millisecond}, false, 1300 * time.Millisecond},
		{"a busy file", []time.Duration{0, 400 * time.Millisecond, 800 * time.Millisecond, 1200 * time.Millisecond}, false, 1400 * time.Millisecond},
		{"the turn ended", []time.Duration{0, 300 * time.Millisecond}, true, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := schedule{}
			for _, at := range tt.changes {
				s.changed("/a/session-1.jsonl", after(at))
			}
			if tt.ended {
				s.ended("session-1")
				s.ended("")
			}
			if at, ok := s.next(); !ok || !at.Equal(after(tt.due)) {
				t.Errorf("due %v after the first change, expected %v", at.Sub(start), tt.due)
			}
			if files := s.take(after(tt.due-1), 10); len(files) > 0 {
				t.Errorf("taken too early: %q", files)
			}
			if files := s.take(after(tt.due), 10); len(files) != 1 {
				t.Errorf("taken when due: %q", files)
			}
			if _, ok := s.next(); ok {
				t.Error("it is still waiting after it was taken")
			}
		})
	}
}

// TestScheduleBound checks that no file waits longer than the bound, however often it changes, and
// that every change is followed by a time at which the file is due.
func TestScheduleBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := schedule{}
		now := start
		first := map[string]time.Time{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 500).Draw(t, "pause")) * time.Millisecond)
			for _, file := range s.take(now, rapid.IntRange(1, 3).Draw(t, "most")) {
				delete(first, file)
			}
			file := fmt.Sprint("/f", rapid.IntRange(0, 3).Draw(t, "file"))
			s.changed(file, now)
			if _, ok := first[file]; !ok {
				first[file] = now
			}
		}
		at, ok := s.next()
		if !ok {
			t.Fatal("a change that is not recorded is not due")
		}
		for file, since := range first {
			if s[file].at().Sub(since) > longest || at.After(s[file].at()) {
				t.Fatalf("%s is due %v after its first change", file, s[file].at().Sub(since))
			}
		}
		var all []string
		for file := range first {
			all = append(all, file)
		}
		slices.Sort(all)
		taken := s.take(now.Add(longest), 10)
		slices.Sort(taken)
		if !slices.Equal(all, taken) {
			t.Fatalf("taken %q, expected %q", taken, all)
		}
	})
}

func TestTakeOldestFirst(t *testing.T) {
	s := schedule{}
	s.changed("late", after(time.Second))
	s.changed("b", start)
	s.changed("a", start)
	if files := s.take(after(time.Minute), 2); !slices.Equal(files, []string{"a", "b"}) {
		t.Errorf("taken %q", files)
	}
}
