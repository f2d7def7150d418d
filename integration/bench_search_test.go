package integration_test

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// realWords returns words of five languages and identifiers of Go, the most frequent first. Short words are often more
// frequent than long ones.
func realWords(tb testing.TB) (words []string) {
	tb.Helper()
	lists := [][]string{identifiers(tb)}
	for _, language := range []string{"american-english", "french", "ngerman", "spanish", "italian"} {
		data, err := os.ReadFile("/usr/share/dict/" + language)
		if err != nil {
			missing(tb, "a list of words is not installed; \"make bench\" installs it: %v", err)
		}
		lists = append(lists, strings.Fields(string(data)))
	}
	type ranked struct {
		rank float64
		word string
	}
	var all []ranked
	random := rand.New(rand.NewPCG(3, 4))
	for _, list := range lists {
		for _, at := range random.Perm(len(list))[:min(len(list), 40000)] {
			if word := list[at]; len(word) > 1 && !strings.Contains(word, "'") {
				all = append(all, ranked{float64(len(word)) * (0.1 + random.Float64()), word})
			}
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.word, b.word)) })
	for _, r := range all {
		words = append(words, r.word)
	}
	return words
}

// identifiers returns the identifiers in the source of Go's packages for networks.
func identifiers(tb testing.TB) []string {
	tb.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	names := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src", "net"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, 0)
		for kind := token.ILLEGAL; kind != token.EOF; {
			var name string
			if _, kind, name = s.Scan(); kind == token.IDENT {
				names[name] = true
			}
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Sorted(maps.Keys(names))
}

// randomMessages writes a session of messages of about 850 bytes, of words whose frequencies differ as those of a language do. It returns
// the size of the texts.
func randomMessages(s *site, words []string, path string, first, messages int, random *rand.Rand) int {
	s.tb.Helper()
	zipf := rand.NewZipf(random, 1.1, 4, uint64(len(words)-1))
	var b strings.Builder
	for i := range messages {
		fmt.Fprintf(&b, "## %s\n\nmessage%d", [2]string{"user", "assistant"}[i%2], first+i)
		for range 145 {
			b.WriteString(" " + words[zipf.Uint64()])
		}
		b.WriteString("\n\n")
	}
	s.write(path, b.String())
	return b.Len()
}

// BenchmarkSearch searches 10,000 messages, and a million when soaking.
func BenchmarkSearch(b *testing.B) {
	sizes := []int{10000}
	if soaking() {
		sizes = append(sizes, 1000000)
	}
	words := realWords(b)
	for _, messages := range sizes {
		r := newRepository(b)
		random := rand.New(rand.NewPCG(1, 2))
		size := 0
		for first := 0; first < messages; first += 2000 {
			size += randomMessages(r, words, fmt.Sprintf("in/s%04d.md", first/2000), first, 2000, random)
		}
		r.domarkx("import", "-q", "in")
		if err := os.RemoveAll(r.path("in")); err != nil {
			b.Fatal(err)
		}
		cpu, peak := r.used(filepath.Join(program(b), "git-domarkx"), "search", "message77")
		of := fmt.Sprintf("search of %d messages: ", messages)
		score(b, of+"indexing, of CPU", float64(size)/1e6/cpu.Seconds(), 0, "MB/s")
		score(b, of+"indexing at 8 MB/s: CPU", milliseconds(cpu), float64(size)/1e3/8, "ms")
		score(b, of+"indexing, memory", float64(peak)/1e6, 300, "MB")
		if info, err := os.Stat(r.path(".git/domarkx/search.db")); err == nil {
			score(b, of+"index, against the texts", float64(info.Size())/float64(size), 0, "x")
		}
		gigabytes := float64(size) / 1e9
		const slow = 2000 // milliseconds for a query that SQLite ranks many matches of, and for one that reads all texts
		for _, q := range []struct {
			what  string
			args  []string
			limit float64 // milliseconds
		}{
			{"a number", []string{"message4242"}, 500},
			{"a rare word", []string{"-n", "20", words[5000]}, 500},
			{"a common word", []string{"-n", "20", words[1]}, slow},
			{"two words", []string{"-n", "20", words[16], words[32]}, slow},
			{"a phrase of common words", []string{"-n", "20", `"` + words[1] + " " + words[2] + `"`}, slow},
			{"a part of identifiers", []string{"-n", "20", "name"}, slow},
			{"-F", []string{"-n", "20", "-F", "message4242 "}, max(20, 3000*gigabytes)},
			{"-F, a common text", []string{"-n", "20", "-F", words[1]}, max(20, 3000*gigabytes)},
			{"-e", []string{"-n", "20", "-e", "(?i)MESSAGE424[23] "}, max(20, 3000*gigabytes)},
			{"-e without a literal", []string{"-n", "20", "-e", `^[a-z]+42\d2 `}, slow},
		} {
			limit := q.limit
			switch {
			case messages > 10000:
			case limit == slow:
				limit = 60
			default:
				limit = 20
			}
			times := race(5, func() { r.domarkx(append([]string{"search"}, q.args...)...) })
			score(b, of+q.what+": time", float64(times[0])/float64(time.Millisecond), limit, "ms")
		}
		cpu, peak = r.used(filepath.Join(program(b), "git-domarkx"), "search", words[1])
		score(b, of+"all hits of a common word: CPU", milliseconds(cpu), 0, "ms")
		score(b, of+"all hits of a common word: memory", float64(peak)/1e6, 200, "MB")
	}
}

// answersOf writes transcripts of Claude Code with answers, calls and results, and returns their size.
func answersOf(s *site, dir string, size int) int {
	s.tb.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	total := 0
	for file := 0; total < size; file++ {
		var b strings.Builder
		parent := "null"
		line := func(kind, rest string) {
			id := fmt.Sprintf("%08x-0000-4000-8000-%012x", file, b.Len())
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/u/p","sessionId":"%08x-0000-4000-8000-000000000000","version":"2.1.0","gitBranch":"main","type":"%s",%s,"uuid":"%s","timestamp":"2026-10-01T10:00:00.000Z"}`+"\n", parent, file, kind, rest, id)
			parent = `"` + id + `"`
		}
		text := func(words int) string {
			var t strings.Builder
			for range words {
				fmt.Fprintf(&t, "word%x ", random.IntN(20000))
			}
			return t.String()
		}
		line("user", `"message":{"role":"user","content":"Begin."}`)
		for i := range 1000 {
			line("assistant", fmt.Sprintf(`"requestId":"req_%[1]d","message":{"id":"msg_%[1]d","type":"message","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"%[2]s"},{"type":"tool_use","id":"toolu_%[1]d","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":120,"cache_read_input_tokens":9000,"output_tokens":%[3]d}}`,
				file*1000+i, text(50), i))
			line("user", fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, file*1000+i, text(330)))
		}
		s.write(fmt.Sprintf("%s/%04d.jsonl", dir, file), b.String())
		total += b.Len()
	}
	return total
}

// BenchmarkUsage counts the tokens in transcripts that were imported: the first time, and again.
func BenchmarkUsage(b *testing.B) {
	r := newRepository(b)
	size := 100 << 20
	if soaking() {
		size = 1 << 30
	}
	gigabytes := float64(answersOf(r, "in", size)) / 1e9
	r.domarkx("import", "-q", "in")
	for _, what := range []string{"the first time", "again"} {
		cpu, _ := r.used(filepath.Join(program(b), "git-domarkx"), "usage", "--by", "model")
		limit := map[string]float64{"the first time": 50 + 12000*gigabytes, "again": 50 + 950*gigabytes}[what]
		score(b, fmt.Sprintf("usage of %.1f GB of transcripts, %s: CPU", gigabytes, what), milliseconds(cpu), limit, "ms")
	}
}

// BenchmarkHTML shows a session of 10,000 messages, one of 100,000, and messages of 10 MB with hostile content as pages.
func BenchmarkHTML(b *testing.B) {
	words := realWords(b)
	r := newRepository(b)
	randomMessages(r, words, "10,000.md", 0, 10000, rand.New(rand.NewPCG(7, 8)))
	randomMessages(r, words, "100,000.md", 0, 100000, rand.New(rand.NewPCG(7, 9)))
	var hostile strings.Builder
	for _, line := range []string{"<b onclick=alert(1)>x</b> [a](javascript:alert(1)) \u202e *em* `code`\n", "[[[![a](b) ![a]( **_` <<&#x202e; |a|b|\n", "> > > - 1. * [\n"} {
		hostile.WriteString("## user\n\n" + strings.Repeat(line, 10_000_000/len(line)) + "\n\n## assistant\n\nDone.\n\n")
	}
	r.write("hostile.md", hostile.String())
	for _, test := range []struct {
		name, what string
		limit      float64 // milliseconds
	}{
		{"10,000", "10,000 messages", 1500},
		{"100,000", "100,000 messages", 15000},
		{"hostile", "messages of 10 MB", 3000},
	} {
		r.domarkx("import", "-q", "--as", "s", test.name+".md")
		cpu, peak := r.used(filepath.Join(program(b), "git-domarkx"), "export", "--format", "html", "-o", r.path("pages"), "s")
		score(b, "export --format html of "+test.what+": CPU", milliseconds(cpu), test.limit, "ms")
		score(b, "export --format html of "+test.what+": memory", float64(peak)/1e6, 300, "MB")
		r.domarkx("rm", "-q", "s")
	}
}
