package integration_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// scores holds the results of the benchmarks. TestMain prints them at the end.
var scores struct {
	sync.Mutex
	lines []string
}

// score records a measured number and its upper limit; 0 means no limit.
func score(b *testing.B, what string, got, limit float64, unit string) {
	b.Helper()
	line := fmt.Sprintf("%-86s %9.2f %-7s", what, got, unit)
	if limit > 0 {
		line += fmt.Sprintf(" at most %5.5g  %s", limit, map[bool]string{true: "ok", false: "MISSED"}[got <= limit])
	}
	scores.Lock()
	defer scores.Unlock()
	scores.lines = append(scores.lines, strings.TrimRight(line, " "))
}

// printScores prints the results of the benchmarks.
func printScores() {
	for _, line := range scores.lines {
		fmt.Println(line)
	}
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// race runs the functions in turn, so that load on the machine slows all of them equally,
// and returns the median time of each.
func race(rounds int, runs ...func()) []time.Duration {
	times := make([][]time.Duration, len(runs))
	for range rounds {
		for i, run := range runs {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	medians := make([]time.Duration, len(runs))
	for i := range runs {
		medians[i] = median(times[i])
	}
	return medians
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func BenchmarkAppend(b *testing.B) {
	lengths := []int{100, 1000, 10000, 100000}
	var runs []func()
	const appends = 25
	made := make([]int, len(lengths))
	size := make([]int64, len(lengths))
	most := make([]int, len(lengths))
	for i, length := range lengths {
		r := newRepository(b)
		r.write("s.md", document("s", length))
		r.domarkx("import", "s.md")
		for range 3 {
			r.domarkx("append", "--new", "-m", "to begin with", "s")
		}
		runs = append(runs, func() { r.domarkx("append", "--new", "-m", "one short message", "s") })
		wasN, wasSize := r.objects()
		for range appends {
			r.domarkx("append", "--new", "-m", "one short message", "s")
			n, now := r.objects()
			most[i] = max(most[i], n-wasN)
			made[i], size[i] = made[i]+n-wasN, size[i]+now-wasSize
			wasN, wasSize = n, now
		}
	}
	times := race(appends, runs...)
	for i, length := range lengths {
		score(b, fmt.Sprintf("append to %d messages: objects, beside the message's blob, at most", length), float64(most[i]-1), 10, "objects")
		score(b, fmt.Sprintf("append to %d messages: data on disk, on average", length), float64(size[i])/appends/1000, 5, "KB")
		score(b, fmt.Sprintf("append to %d messages: time, against %d messages", length, lengths[0]), ratio(times[i], times[0]), 1.2, "x")
		score(b, fmt.Sprintf("append to %d messages: time", length), milliseconds(times[i]), 0, "ms")
	}
}

func BenchmarkImport(b *testing.B) {
	const documents, messages = 1000, 50
	s := newSite(b)
	for d := range documents {
		s.write(fmt.Sprintf("in/d%04d.md", d), document(fmt.Sprintf("d%04d", d), messages))
	}
	first := s.at("repo0")
	s.git("init", "-q", first.dir)
	first.domarkx("import", s.path("in"))
	packs, _ := filepath.Glob(first.path(".git/objects/pack/*.pack"))
	stream := s.path("stream")
	first.git("config", "core.quotePath", "false")
	first.must("", "sh", "-c", "git fast-export --full-tree --glob='refs/domarkx/sessions/*' >"+stream)
	again := race(3, func() { first.domarkx("import", s.path("in")) })
	number := 0
	fresh := func() *site {
		number++
		r := s.at(fmt.Sprintf("repo%d", number))
		s.git("init", "-q", r.dir)
		return r
	}
	times := race(3,
		func() { fresh().domarkx("import", s.path("in")) },
		func() { fresh().must("", "sh", "-c", "git fast-import --quiet <"+stream) })
	score(b, "import of 1,000 documents of 50 messages: time, against git fast-import", ratio(times[0], times[1]), 1, "x")
	score(b, "import of 1,000 documents of 50 messages: time", milliseconds(times[0]), 0, "ms")
	score(b, "import of 1,000 documents of 50 messages: packs", float64(len(packs)), 1, "packs")
	score(b, "import of the same, unchanged: time, against the import", ratio(again[0], times[0]), 0.1, "x")
}

func BenchmarkList(b *testing.B) {
	const sessions = 10000
	r := newRepository(b)
	for d := range sessions {
		r.write(fmt.Sprintf("in/%02d/d%04d.md", d%50, d), document(fmt.Sprintf("d%04d", d), 2))
	}
	start := time.Now()
	r.domarkx("import", "in")
	score(b, "import of 10,000 documents of 2 messages: time", milliseconds(time.Since(start)), 0, "ms")
	start = time.Now()
	r.domarkx("list")
	first := time.Since(start)
	for _, packed := range []bool{false, true} {
		how := "loose"
		if packed {
			r.git("pack-refs", "--all")
			how = "packed"
		}
		times := race(7, func() { r.domarkx("list") }, func() { r.git("for-each-ref", "refs/domarkx/sessions/") })
		score(b, "list of 10,000 sessions, "+how+": time, against git for-each-ref", ratio(times[0], times[1]), 2, "x")
		if !packed {
			score(b, "list of 10,000 sessions for the first time: time, against git for-each-ref", ratio(first, times[1]), 0, "x")
		}
	}
}

// BenchmarkListOfBranch lists the sessions of a Git branch, which the front matter of each names.
func BenchmarkListOfBranch(b *testing.B) {
	const sessions, branches = 10000, 100
	r := newRepository(b)
	for d := range sessions {
		r.write(fmt.Sprintf("in/%02d/d%04d.md", d%50, d), fmt.Sprintf("---\ngit_branches: [main, b%d]\n---\n\n", d%branches)+document(fmt.Sprintf("d%04d", d), 2))
	}
	r.domarkx("import", "in")
	if found := strings.Count(r.domarkx("list", "--branch", "b7"), "\n"); found != sessions/branches {
		b.Errorf("%d sessions worked on a branch, want %d", found, sessions/branches)
	}
	times := race(7, func() { r.domarkx("list", "--branch", "b7") }, func() { r.domarkx("list") })
	score(b, "list of the sessions of a branch among 10,000: time, against list of all", ratio(times[0], times[1]), 4, "x")
}

func BenchmarkMessage(b *testing.B) {
	needFUSE(b)
	const long, short = 100000, 100
	r := newRepository(b)
	r.write("long.md", document("long", long))
	r.write("short.md", document("short", short))
	r.domarkx("import", "long.md", "short.md")
	show := func(name string, k int) func() {
		return func() { r.domarkx("show", fmt.Sprintf("%s#%d", name, k)) }
	}
	times := race(15, show("short", 50), show("long", 0), show("long", long/2), show("long", long-1))
	score(b, "show of message 50,000 of 100,000: time, against message 50 of 100", ratio(times[2], times[0]), 1.2, "x")
	score(b, "show of message k of 100,000: slowest against fastest k", ratio(max(times[1], times[2], times[3]), min(times[1], times[2], times[3])), 1.2, "x")
	score(b, "show of message 50,000 of 100,000: time", milliseconds(times[2]), 0, "ms")

	m := mountAt(b, r, filepath.Join(b.TempDir(), "mnt"))
	read := func(name string, from, step int) func() {
		k := from
		return func() {
			m.read(fmt.Sprintf("messages/%s/%04d-%s/message.md", name, k, [2]string{"user", "assistant"}[k%2]))
			k += step
		}
	}
	read("short", 0, 1)()
	read("long", 0, 1)()
	times = race(30, read("short", 1, 3), read("long", 100, 1), read("long", long/2, 1), read("long", long-1, -1))
	score(b, "message 50,000 of 100,000 in the mount: time, against one of 100", ratio(times[2], times[0]), 1.2, "x")
	score(b, "message k of 100,000 in the mount: slowest against fastest k", ratio(max(times[1], times[2], times[3]), min(times[1], times[2], times[3])), 1.2, "x")
	score(b, "message 50,000 of 100,000 in the mount: time", milliseconds(times[2]), 0, "ms")
	m.end()
}

func BenchmarkMount(b *testing.B) {
	needFUSE(b)
	r := newRepository(b)
	r.write("s.md", document("s", 10000))
	r.domarkx("import", "s.md")
	m := mountAt(b, r, filepath.Join(b.TempDir(), "mnt"))
	start := time.Now()
	m.read("sessions/s.md")
	first := time.Since(start)
	times := race(31, func() { m.read("sessions/s.md") }, func() { r.read("s.md") })
	score(b, "cat of 10,000 messages in the mount, read again at once: time, against a plain file", ratio(times[0], times[1]), 0, "x")
	score(b, "cat of 10,000 messages in the mount, first: time, against a plain file", ratio(first, times[1]), 0, "x")
	cat := race(15, func() { r.must("", "cat", m.path("sessions/s.md")) }, func() { r.must("", "cat", "s.md") })
	score(b, "cat of 10,000 messages in the mount, again: time, against cat of a plain file", ratio(cat[0], cat[1]), 1.5, "x")
	m.end()
}

func BenchmarkLarge(b *testing.B) {
	const size = 100 << 20
	s := newSite(b)
	var many strings.Builder
	filler := strings.Repeat("All work and no play makes Jack a dull boy. ", 23)
	for i := 0; many.Len() < size; i++ {
		fmt.Fprintf(&many, "\n## %s\n\n%d %s\n", [2]string{"user", "assistant"}[i%2], i, filler)
	}
	for name, text := range map[string]string{
		"100,000 messages": many.String()[1:],
		"one message":      "## user\n\n" + strings.Repeat(filler+"\n", size/len(filler)),
	} {
		s.write("large.md", text)
		start := time.Now()
		plain := s.at("plain " + name)
		s.git("init", "-q", plain.dir)
		plain.git("hash-object", "-w", s.path("large.md"))
		git := time.Since(start)
		r := s.at("repo " + name)
		s.git("init", "-q", r.dir)
		start = time.Now()
		_, peak := r.used("git-domarkx", "import", s.path("large.md"))
		score(b, "import of 100 MB in "+name+": time, against git hash-object -w", ratio(time.Since(start), git), 0, "x")
		score(b, "import of 100 MB in "+name+": peak memory, against the size of the document", float64(peak)/size, 0, "x")
		var shown int64
		_, shown = r.used("sh", "-c", "exec git-domarkx show large >"+s.path("shown"))
		score(b, "show of 100 MB in "+name+": peak memory, against the size of the document", float64(shown)/size, 0, "x")
		if s.read("shown") != text {
			b.Errorf("%s: show gives other bytes than were imported", name)
		}
	}
}
