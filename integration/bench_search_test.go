package integration_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// randomMessages writes a session of messages of about 850 bytes, of words whose frequencies differ as
// those of a language do. It returns the size of the texts.
func randomMessages(s *site, path string, first, messages int, random *rand.Rand) int {
	s.tb.Helper()
	zipf := rand.NewZipf(random, 1.1, 4, 200000)
	var b strings.Builder
	for i := range messages {
		fmt.Fprintf(&b, "## %s\n\nmessage%d", [2]string{"user", "assistant"}[i%2], first+i)
		for range 110 {
			n := zipf.Uint64()
			switch {
			case n%13 == 5:
				fmt.Fprintf(&b, " getWord%dByName", n)
			default:
				fmt.Fprintf(&b, " word%x", n)
			}
		}
		b.WriteString("\n\n")
	}
	s.write(path, b.String())
	return b.Len()
}

func BenchmarkSearch(b *testing.B) {
	for _, messages := range []int{10000, 1000000} {
		r := newRepository(b)
		random := rand.New(rand.NewPCG(1, 2))
		size := 0
		for first := 0; first < messages; first += 2000 {
			size += randomMessages(r, fmt.Sprintf("in/s%04d.md", first/2000), first, 2000, random)
		}
		r.domarkx("import", "-q", "in")
		if err := os.RemoveAll(r.path("in")); err != nil {
			b.Fatal(err)
		}
		cpu, peak := r.used(filepath.Join(program(b), "git-domarkx"), "search", "message77")
		of := fmt.Sprintf("search of %d messages: ", messages)
		score(b, of+"indexing, of CPU, at least 30", float64(size)/1e6/cpu.Seconds(), 0, "MB/s")
		score(b, of+"indexing, memory", float64(peak)/1e6, 0, "MB")
		if info, err := os.Stat(r.path(".git/domarkx/search.db")); err == nil {
			score(b, of+"index, against the texts", float64(info.Size())/float64(size), 0, "x")
		}
		gigabytes := float64(size) / 1e9
		for _, q := range []struct {
			what  string
			args  []string
			limit float64 // milliseconds
		}{
			{"a rare word", []string{"message4242"}, 500},
			{"a common word", []string{"-n", "20", "word1"}, 500},
			{"two words", []string{"-n", "20", "word10", "word20"}, 500},
			{"a part of identifiers", []string{"-n", "20", "byname"}, 500},
			{"-F", []string{"-n", "20", "-F", "message4242 "}, max(20, 3000*gigabytes)},
			{"-e", []string{"-n", "20", "-e", "(?i)MESSAGE424[23] "}, max(20, 3000*gigabytes)},
		} {
			limit := q.limit
			if messages == 10000 {
				limit = 20
			}
			times := race(5, func() { r.domarkx(append([]string{"search"}, q.args...)...) })
			score(b, of+q.what+": time", float64(times[0])/float64(time.Millisecond), limit, "ms")
		}
	}
}
