package integration_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A documentWriter writes documents in other programs' formats that are too large to hold
// in memory.
type documentWriter struct {
	*bufio.Writer
	random  *rand.Rand
	written int64
}

// writeDocument writes a document to a file.
func writeDocument(tb testing.TB, path string, write func(w *documentWriter)) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		tb.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	w := &documentWriter{Writer: bufio.NewWriterSize(f, 1<<20), random: rand.New(rand.NewPCG(1, 2))}
	write(w)
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
}

func (w *documentWriter) printf(form string, args ...any) {
	n, _ := fmt.Fprintf(w, form, args...) // Flush returns the error
	w.written += int64(n)
}

var vocabulary = strings.Fields("the a file test of to in and that this build error line function returns value reads writes " +
	"from with message session when then there import commit tree blob reader parser branch user assistant code result tool call " +
	"path name list item check run make sure it is was not only also first second third last next before after")

// text returns between least and most bytes of prose, quoted as JSON.
func (w *documentWriter) text(least, most int) string {
	var b strings.Builder
	for size := least + w.random.IntN(most-least); b.Len() < size; {
		if b.Len() > 0 {
			b.WriteString([...]string{" ", " ", " ", " ", " ", " ", " ", " ", ", ", ".\n\n"}[w.random.IntN(10)])
		}
		b.WriteString(vocabulary[w.random.IntN(len(vocabulary))])
		if w.random.IntN(6) == 0 {
			b.WriteString(strconv.Itoa(w.random.IntN(100000)))
		}
	}
	return strconv.Quote(b.String()) // valid JSON, because the text is ASCII without control characters except line ends
}

// transcript writes a transcript of pi: turns of a question, a call with its result, and
// an answer, in lines of 1 to 4 KB. With forks, it returns to an earlier entry that many
// times.
func (w *documentWriter) transcript(size int64, forks int) {
	w.printf(`{"type":"session","version":3,"id":"s","timestamp":"2026-02-18T05:00:00.120Z","cwd":"/w"}` + "\n")
	last, id, half := "null", 0, ""
	add := func(message string) {
		id++
		me := fmt.Sprintf(`"%08x"`, id)
		w.printf(`{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-02-18T05:00:01.000Z","message":%s}`+"\n", me, last, message)
		last = me
	}
	for w.written < size {
		add(`{"role":"user","content":` + w.text(500, 2000) + `,"timestamp":1739854801000}`)
		call := fmt.Sprintf("toolu_%016x", id)
		add(fmt.Sprintf(`{"role":"assistant","content":[{"type":"thinking","thinking":%s,"thinkingSignature":"c2ln"},{"type":"text","text":%s},`+
			`{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":%s}}],"api":"a","provider":"p","model":"m",`+
			`"usage":{"input":1,"output":2},"stopReason":"toolUse","timestamp":1739854801000}`, w.text(300, 900), w.text(300, 1800), call, w.text(20, 80)))
		add(fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":[{"type":"text","text":%s}],"isError":false,"timestamp":1739854801000}`, call, w.text(500, 4000)))
		add(`{"role":"assistant","content":[{"type":"text","text":` + w.text(500, 3000) + `}],"api":"a","provider":"p","model":"m","usage":{"input":1,"output":2},"stopReason":"stop","timestamp":1739854801000}`)
		switch {
		case half == "" && w.written > size/2:
			half = last
		case half != "" && forks > 0 && w.written > size-size/8*int64(forks):
			last, forks = half, forks-1
		}
	}
}

// chatter writes a session of agent-chatter with at least this many messages and bytes,
// indented like the program's own files.
func (w *documentWriter) chatter(id string, size int64, messages int) {
	w.printf("{\n  \"schemaVersion\": \"1.0\",\n  \"teamId\": \"team\",\n  \"sessionId\": %q,\n  \"createdAt\": \"2026-02-18T05:00:00.000Z\",\n  \"updatedAt\": \"2026-02-18T06:00:00.000Z\",\n  \"context\": {\n    \"messages\": [", id)
	n := 0
	for ; w.written < size || n < messages; n++ {
		speaker := [...]string{"u", "User", "human"}
		if n%2 == 1 {
			speaker = [...]string{"dev", "Developer", "ai"}
		}
		w.printf(`%s
      {
        "id": "m%d",
        "timestamp": "2026-02-18T05:00:00.000Z",
        "speaker": {
          "id": %q,
          "name": %[3]q,
          "displayName": %q,
          "type": %q
        },
        "content": %s,
        "routing": {
          "rawNextMarkers": [
            "u"
          ],
          "resolvedAddressees": [
            {
              "identifier": "u",
              "memberId": "u",
              "memberName": "u"
            }
          ]
        }
      }`, [...]string{",", ""}[max(0, 1-n)], n, speaker[0], speaker[1], speaker[2], w.text(300, 2000))
	}
	w.printf("\n    ],\n    \"teamTask\": null,\n    \"timestamp\": 1739854801000,\n    \"version\": 1\n  },\n  \"metadata\": {\n    \"messageCount\": %d\n  }\n}", n)
}

// markdown writes a session in Markdown.
func (w *documentWriter) markdown(size int64) {
	for n := 0; w.written < size; n++ {
		text, _ := strconv.Unquote(w.text(300, 2000)) // text quotes it
		w.printf("## %s\n\n%s\n\n", [...]string{"user", "assistant"}[n%2], text)
	}
}

// changeMiddle changes a word in the middle of a file.
func changeMiddle(tb testing.TB, path string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	middle := make([]byte, 64<<10)
	if _, err := f.ReadAt(middle, info.Size()/2); err != nil {
		tb.Fatal(err)
	}
	at := bytes.Index(middle, []byte(" message "))
	if _, err := f.WriteAt([]byte(" CHANGED "), info.Size()/2+int64(at)); at < 0 || err != nil {
		tb.Fatalf("no word at %d, %v", at, err)
	}
}

// fileSum returns the SHA-256 and the size of a file.
func fileSum(tb testing.TB, path string) (string, int64) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	digest := sha256.New()
	n, err := io.Copy(digest, f)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("%x", digest.Sum(nil)), n
}

// filesBelow returns the paths of the files below a directory.
func filesBelow(tb testing.TB, dir string) (paths []string) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return paths
}

// TestSoakLargeImport checks that the memory of an import or export does not grow with
// the size of the document. When soaking, each of these documents would exceed the limit if it were
// held in memory: they have one gigabyte.
func TestSoakLargeImport(t *testing.T) {
	t.Parallel()
	size, most := int64(1_000_000), int64(120_000_000)
	if soaking() {
		size, most = 1_000_000_000, 300_000_000
	}
	for _, test := range []struct {
		name, session, format string
		write                 func(w *documentWriter)
	}{
		{"f.jsonl", "f", "pi", func(w *documentWriter) { w.transcript(size, 2) }},
		{"claude.jsonl", "claude-code/", "claude-code", func(w *documentWriter) { w.claude(size) }},
		{"codex.jsonl", "codex/", "codex", func(w *documentWriter) { w.codex(size) }},
		{"c.json", "team/c", "agent-chatter", func(w *documentWriter) { w.chatter("c", size, 0) }},
		{"m.md", "m", "md", func(w *documentWriter) { w.markdown(size) }},
	} {
		r := newRepository(t)
		writeDocument(t, r.path(test.name), test.write)
		if cpu, peak := r.used("git-domarkx", "import", test.name); peak > most {
			t.Errorf("importing %d MB of %s: peak memory %d MB, expected at most %d", size/1e6, test.name, peak/1e6, most/1_000_000)
		} else {
			t.Logf("importing %d MB of %s: %.1f MB/s of CPU, peak memory %d MB", size/1e6, test.name, float64(size)/1e6/cpu.Seconds(), peak/1e6)
		}
		listed := r.domarkx("list")
		if strings.HasSuffix(test.session, "/") { // the name comes from the first prompt
			test.session, _, _ = strings.Cut(listed, "\t")
		}
		before, _ := fileSum(t, r.path(test.name))
		if _, peak := r.used("git-domarkx", "export", "--format", test.format, "-o", "out/", test.session); peak > most {
			t.Errorf("exporting %s to a directory: peak memory %d MB", test.name, peak/1e6)
		}
		exported := filesBelow(t, r.path("out"))
		if len(exported) != 1 {
			t.Fatalf("%s: exported were %q", test.name, exported)
		}
		if after, _ := fileSum(t, exported[0]); after != before {
			t.Errorf("%s: exported as something else than was imported", test.name)
		}
		if forks := strings.Count(listed, ".fork-"); (forks == 2) != (test.name == "f.jsonl") {
			t.Errorf("%s: %d branches", test.name, forks)
		}
		changeMiddle(t, r.path(test.name))
		if _, peak := r.used("git-domarkx", "import", test.name); peak > most {
			t.Errorf("importing %s again, changed: peak memory %d MB", test.name, peak/1e6)
		}
		r.domarkx("append", "--new", "-m", "and more", test.session)
		formats := []string{"pi"}
		if soaking() {
			formats = append(formats, "openpocket", "agent-chatter", "zeus", "md", "json")
		}
		for _, format := range formats {
			if _, peak := r.used("git-domarkx", "-q", "export", "--format", format, "-o", os.DevNull, test.session); peak > most {
				t.Errorf("exporting %s, changed, as %s: peak memory %d MB", test.name, format, peak/1e6)
			}
		}
		if err := os.RemoveAll(r.dir); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkImportForeign measures the import of large documents of other programs.
func BenchmarkImportForeign(b *testing.B) {
	for name, write := range map[string]func(dir string){
		"a 100 MB transcript of pi": func(dir string) {
			writeDocument(b, filepath.Join(dir, "s.jsonl"), func(w *documentWriter) { w.transcript(100_000_000, 0) })
		},
		"a 100 MB transcript of Claude Code": func(dir string) {
			writeDocument(b, filepath.Join(dir, "s.jsonl"), func(w *documentWriter) { w.claude(100_000_000) })
		},
		"a 100 MB transcript of Codex": func(dir string) {
			writeDocument(b, filepath.Join(dir, "s.jsonl"), func(w *documentWriter) { w.codex(100_000_000) })
		},
		"1,000 sessions of agent-chatter": func(dir string) {
			for i := range 1000 {
				writeDocument(b, filepath.Join(dir, fmt.Sprintf("%04d.json", i)), func(w *documentWriter) { w.chatter(fmt.Sprint(i), 0, 100) })
			}
		},
	} {
		r := newRepository(b)
		write(r.path("in"))
		size := int64(0)
		files, _ := filepath.Glob(r.path("in/*"))
		for _, file := range files {
			_, n := fileSum(b, file)
			size += n
		}
		r.write("in/small.md", document("small", 1))
		started, _ := r.used("git-domarkx", "import", "in/small.md")
		cpu, peak := r.used("git-domarkx", "import", "in")
		cpu -= started                                                                                             // subtract the constant cost of a command
		score(b, "import of "+name+": CPU for a megabyte", milliseconds(cpu)/(float64(size)/1e6), 1000.0/35, "ms") // 35 MB/s
		score(b, "import of "+name+": megabytes a second of CPU", float64(size)/1e6/cpu.Seconds(), 0, "MB/s")
		score(b, "import of "+name+": peak memory", float64(peak)/1e6, 300, "MB")
	}
}
