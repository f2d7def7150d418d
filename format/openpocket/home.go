package openpocket

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
)

// Paths in the program's home.
const (
	workspaceDir   = "workspace"
	sessionsDir    = "sessions" // in the workspace, as the next two are
	memoryDir      = "memory"
	runsDir        = "scripts/runs"
	screenshotsDir = "state/screenshots"
	artifactsDir   = "state/human-auth-artifacts"
)

// evidence lists the files that identify a workspace, relative to its parent directory, and how
// they begin.
var evidence = []struct {
	path func() *regexp.Regexp // the first group is the workspace
	is   func(head []byte, file string) bool
}{
	{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*/|)sessions/session-\d{8}-\d{6}\.md$`) }), Detect},
	{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*/|)memory/\d{4}-\d\d-\d\d\.md$`) }), func(head []byte, file string) bool {
		return bytes.HasPrefix(head, []byte("# Memory "+strings.TrimSuffix(path.Base(file), ".md")+"\n"))
	}},
	{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*/|)scripts/runs/run-[^/]+/result\.json$`) }), func(head []byte, _ string) bool {
		return bytes.Contains(head, []byte(`"runId"`)) && bytes.Contains(head, []byte(`"scriptPath"`))
	}},
}

// findHomes finds workspaces, and the program's home above each that is called
// "workspace".
func findHomes(files []string, head func(string) []byte) []format.Home {
	var found []string
	for _, file := range files {
		for _, e := range evidence {
			m := e.path().FindStringSubmatch(file)
			if m == nil || slices.Contains(found, path.Clean(m[1])) {
				continue
			}
			if data := head(file); data != nil && e.is(data, file) {
				found = append(found, path.Clean(m[1]))
			}
		}
	}
	slices.Sort(found)
	var homes []format.Home
	for i, dir := range found {
		if slices.ContainsFunc(found[:i], func(other string) bool { return within(dir, other) }) {
			continue // part of the enclosing workspace
		}
		h := format.Home{Name: Name, Documents: path.Join(dir, sessionsDir)}
		if top := path.Dir(dir); path.Base(dir) == workspaceDir {
			for _, part := range []string{artifactsDir, screenshotsDir} {
				h.Parts = append(h.Parts, format.Part{From: path.Join(top, part), To: part})
			}
			if top != "." {
				h.Name += "-" + path.Base(top)
			}
		}
		h.Parts = append(h.Parts, format.Part{From: dir, To: workspaceDir})
		homes = append(homes, h)
	}
	return homes
}

// within reports whether a path is below a directory.
func within(file, dir string) bool { return dir == "." || strings.HasPrefix(file, dir+"/") }

// namesOfHome reports whether a message refers to an existing file: a step to its screenshot, its
// script run, or an approval's attachment; a final message to the memory file of its day.
func namesOfHome(h domarkx.Header, m domarkx.Message, has func(string) bool) bool {
	if ended := transcript.Text(m.Meta(), keyEndedAt); ended != "" {
		return slices.ContainsFunc([]string{dayOf(ended), dayOf(started(h))}, func(day string) bool {
			return day != "" && has(path.Join(workspaceDir, memoryDir, day+".md"))
		})
	}
	return transcript.Text(m.Meta(), keyStep) != "" && slices.ContainsFunc(m.Content, func(b domarkx.Block) bool {
		return isCode(b, "tool-result") && slices.ContainsFunc(namedIn(textOf(b.Text)), has)
	})
}

// runResult begins the result of a script.
var runResult = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^run_script exitCode=[^\n]*\nrunDir=([^\n]*)(?:\n|$)`)
})

// namedIn returns the possible paths in a home of the files that a result names. Only the last
// element of a named path counts, because the path is from another machine.
func namedIn(result string) []string {
	var named []string
	add := func(dir, file string) {
		if name := file[strings.LastIndexAny(file, `/\`)+1:]; name != "" && name != "." && name != ".." {
			named = append(named, path.Join(dir, name))
		}
	}
	if file, ok := strings.CutPrefix(result[strings.LastIndexByte(result, '\n')+1:], screenshot); ok {
		add(screenshotsDir, file)
	}
	if m := runResult().FindStringSubmatch(result); m != nil {
		add(path.Join(workspaceDir, runsDir), m[1])
	}
	if auth, ok := humanAuth(result); ok {
		add(artifactsDir, transcript.Text(auth, "human_artifact"))
	}
	return named
}

// started returns the local time at which a session began: its id.
func started(h domarkx.Header) string {
	at, err := time.Parse(idTime, transcript.Text(h.Meta(), keyID))
	if err != nil {
		return ""
	}
	return at.Format(time.DateOnly)
}

var date = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{4}-\d\d-\d\d`) })

func dayOf(time string) string { return date().FindString(time) }
