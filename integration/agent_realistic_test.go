package integration_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project is the subject of a realistic transcript: the files of this repository, and
// prose in the words of its documents (a Markov chain of order 2).
type project struct {
	paths   []string
	files   map[string]string
	prose   map[[2]string][]string
	opening [][2]string
}

func readProject(tb testing.TB) *project {
	tb.Helper()
	p := &project{files: map[string]string{}, prose: map[[2]string][]string{}}
	var paths []string
	for _, pattern := range []string{"../gitstore/*.go", "../format/*/*.go", "../git-domarkx/engine/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		name := "/work/shop/" + strings.TrimPrefix(path, "../")
		p.paths, p.files[name] = append(p.paths, name), string(data)
	}
	for _, document := range []string{"../README.md", "../GUIDE.md", "../DESIGN.md", "../CONTRIBUTING.md"} {
		data, err := os.ReadFile(document)
		if err != nil {
			tb.Fatal(err)
		}
		last := [2]string{".", "."}
		for word := range strings.FieldsSeq(string(data)) {
			if strings.HasSuffix(last[1], ".") {
				p.opening = append(p.opening, [2]string{last[1], word})
			}
			p.prose[last] = append(p.prose[last], word)
			last = [2]string{last[1], word}
		}
	}
	return p
}

// say returns between least and most bytes of prose.
func (w *documentWriter) say(p *project, least, most int) string {
	var b strings.Builder
	at := p.opening[w.random.IntN(len(p.opening))]
	for size := least + w.random.IntN(most-least); b.Len() < size; {
		if b.Len() > 0 {
			b.WriteString([...]string{" ", "\n\n"}[w.random.IntN(30)/29])
		}
		b.WriteString(at[1])
		next := p.prose[at]
		if next == nil {
			at = p.opening[w.random.IntN(len(p.opening))]
			continue
		}
		at = [2]string{at[1], next[w.random.IntN(len(next))]}
	}
	return b.String()
}

// token returns the random part of an id.
func (w *documentWriter) token(size int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	id := make([]byte, size)
	for i := range id {
		id[i] = letters[w.random.IntN(len(letters))]
	}
	return string(id)
}

func (w *documentWriter) signature() string {
	data := make([]byte, 150+w.random.IntN(300))
	for i := range data {
		data[i] = byte(w.random.Uint32())
	}
	return base64.StdEncoding.EncodeToString(data)
}

func (w *documentWriter) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", w.random.Uint32(), w.random.IntN(1<<16), w.random.IntN(1<<12), w.random.IntN(1<<12), w.random.Int64N(1<<48))
}

func jsonString(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// realClaude writes a transcript as Claude Code writes it for work on a project: with the shares of prose,
// calls, results, files and progress that were measured on transcripts of that program, and with signatures
// and ids that do not compress.
func (w *documentWriter) realClaude(p *project, size int64) {
	r := realSession{documentWriter: w, project: p, last: "null", session: w.uuid(), working: map[string]string{}}
	for w.written < size {
		r.line("user", `"thinkingMetadata":{"maxThinkingTokens":31999},"todos":[],"permissionMode":"default","message":{"role":"user","content":`+jsonString(w.say(p, 60, 900))+`}`)
		for range 3 + w.random.IntN(10) {
			r.step()
		}
		r.message = "msg_01" + w.token(22)
		r.block(`{"type":"text","text":` + jsonString(w.say(p, 300, 1500)) + `}`)
		r.line("system", `"subtype":"turn_duration","durationMs":`+fmt.Sprint(w.random.IntN(300000))+`,"isMeta":false`)
	}
}

// A realSession is a realistic session that is being written.
type realSession struct {
	*documentWriter
	*project
	last, session, message string
	n                      int
	working                map[string]string // files as they are now
	open                   []string          // the paths of the files that the agent works on
}

func (r *realSession) line(kind, rest string) {
	r.n += 1 + r.random.IntN(9)
	id := jsonString(r.uuid())
	r.printf(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/work/shop","sessionId":%q,"version":"2.1.63","gitBranch":"main","slug":"humming-dancing-knuth","type":%q,%s,"uuid":%s,"timestamp":"2026-03-%02dT%02d:%02d:%02d.%03dZ"}`+"\n",
		r.last, r.session, kind, rest, id, 1+r.n/86400%28, r.n/3600%24, r.n/60%60, r.n%60, r.random.IntN(1000))
	r.last = id
}

func (r *realSession) block(content string) {
	r.line("assistant", fmt.Sprintf(`"requestId":"req_011C%s","message":{"model":"claude-opus-4-6","id":%q,"type":"message","role":"assistant","content":[%s],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":%d,"service_tier":"standard"}}`,
		r.token(20), r.message, content, r.random.IntN(10), r.random.IntN(9000), 9000+r.n*10, r.random.IntN(800)))
}

// step writes a response with a call, and the call's result.
func (r *realSession) step() {
	r.message = "msg_01" + r.token(22)
	if r.random.IntN(2) == 0 {
		r.block(`{"type":"thinking","thinking":` + jsonString(r.say(r.project, 100, 900)) + `,"signature":"` + r.signature() + `"}`)
	}
	if r.random.IntN(2) == 0 {
		r.block(`{"type":"text","text":` + jsonString(r.say(r.project, 40, 300)) + `}`)
	}
	call := "toolu_01" + r.token(22)
	use := func(tool, input string) {
		r.block(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{%s},"caller":{"type":"direct"}}`, call, tool, input))
	}
	result := func(content, more string) {
		r.line("user", fmt.Sprintf(`"message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":false}]},"toolUseResult":%s,"sourceToolAssistantUUID":%s`, call, jsonString(content), more, r.last))
	}
	if len(r.open) < 3 || r.random.IntN(5) == 0 {
		path := r.paths[r.random.IntN(len(r.paths))]
		r.open, r.working[path] = append(r.open, path), r.files[path]
	}
	path := r.open[max(0, len(r.open)-1-r.random.IntN(6))]
	content := r.working[path]
	lines := strings.SplitAfter(content, "\n")
	switch r.random.IntN(6) {
	case 0, 1:
		use("Read", `"file_path":`+jsonString(path))
		var numbered strings.Builder
		for i, line := range lines {
			fmt.Fprintf(&numbered, "%6d→%s", i+1, line)
		}
		result(numbered.String(), fmt.Sprintf(`{"type":"text","file":{"filePath":%s,"content":%s,"numLines":%d,"startLine":1,"totalLines":%d}}`, jsonString(path), jsonString(content), len(lines), len(lines)))
	case 2, 3:
		at := r.random.IntN(len(lines))
		old, now := lines[at], lines[at]+"\t// "+r.say(r.project, 20, 120)+"\n"
		use("Edit", `"replace_all":false,"file_path":`+jsonString(path)+`,"old_string":`+jsonString(old)+`,"new_string":`+jsonString(now))
		snippet := strings.Join(lines[max(0, at-3):min(len(lines), at+4)], "")
		result("The file "+path+" has been updated successfully.", fmt.Sprintf(`{"filePath":%s,"oldString":%s,"newString":%s,"originalFile":%s,"structuredPatch":[{"oldStart":%d,"oldLines":6,"newStart":%d,"newLines":7,"lines":[%s]}],"userModified":false,"replaceAll":false}`,
			jsonString(path), jsonString(old), jsonString(now), jsonString(content), at, at, jsonString(snippet)))
		r.working[path] = strings.Join(lines[:at], "") + now + strings.Join(lines[at+1:], "")
	default:
		command := "go test ./" + filepath.Base(filepath.Dir(path)) + "/... -run " + r.token(6)
		use("Bash", `"command":`+jsonString(command)+`,"description":`+jsonString(r.say(r.project, 10, 40)))
		output := ""
		for range 1 + r.random.IntN(25) {
			other := r.paths[r.random.IntN(len(r.paths))]
			output += fmt.Sprintf("%s:%d: %s\nok  \t%s\t%d.%03ds\n", other, r.random.IntN(300), strings.TrimSpace(lines[r.random.IntN(len(lines))]), filepath.Dir(other), r.random.IntN(9), r.random.IntN(1000))
		}
		for seconds := range r.random.IntN(8) { // what was printed so far, once a second
			r.line("progress", fmt.Sprintf(`"data":{"type":"bash_progress","output":%s,"fullOutput":%s,"elapsedTimeSeconds":%d,"totalLines":%d},"toolUseID":"bash-progress-%d","parentToolUseID":%q`, jsonString(output[:len(output)/2]), jsonString(output[:len(output)*3/4]), seconds+2, strings.Count(output, "\n"), seconds, call))
		}
		result(output, `{"stdout":`+jsonString(output)+`,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}`)
	}
}
