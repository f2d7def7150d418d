package openpocket_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/openpocket"
)

func TestFindHomes(t *testing.T) {
	contents := map[string]string{"session": head, "memory": "# Memory 2026-02-18\n\n", "run": `{"runId": "x", "scriptPath": "y"}`, "other": "# Something\n"}
	workspace := func(dir string) format.Part { return format.Part{From: dir, To: "workspace"} }
	state := func(dir, name string) format.Part { return format.Part{From: dir + name, To: name} }
	for _, test := range []struct {
		files string // "path=content", separated by blanks
		want  []format.Home
	}{
		{"sessions/session-20260218-130000.md=session", []format.Home{{Name: "openpocket", Documents: "sessions", Parts: []format.Part{workspace(".")}}}},
		{"sessions/session-20260218-130000.md=other sessions/x.md=session memory/README.md=memory memory/2026-02-19.md=memory", nil},
		{"memory/2026-02-18.md=memory", []format.Home{{Name: "openpocket", Documents: "sessions", Parts: []format.Part{workspace(".")}}}},
		{"workspace/scripts/runs/run-x/result.json=run workspace/skills/memory/2026-02-18.md=memory", []format.Home{{Name: "openpocket", Documents: "workspace/sessions",
			Parts: []format.Part{state("", "state/human-auth-artifacts"), state("", "state/screenshots"), workspace("workspace")}}}},
		{"agents/bob/workspace/memory/2026-02-18.md=memory", []format.Home{{Name: "openpocket-bob", Documents: "agents/bob/workspace/sessions",
			Parts: []format.Part{state("agents/bob/", "state/human-auth-artifacts"), state("agents/bob/", "state/screenshots"), workspace("agents/bob/workspace")}}}},
	} {
		var files []string
		found := map[string]string{}
		for _, file := range strings.Fields(test.files) {
			name, content, _ := strings.Cut(file, "=")
			files, found[name] = append(files, name), contents[content]
		}
		got := openpocket.Codec().Homes.Find(files, func(name string) []byte { return []byte(found[name]) })
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.files, diff)
		}
	}
}

func TestNamesOfHome(t *testing.T) {
	for _, test := range []struct{ result, want string }{
		{"Tapped\nlocal_screenshot=/home/x/shots/a.png", "state/screenshots/a.png"},
		{`local_screenshot=C:\shots\a.png`, "state/screenshots/a.png"},
		{"local_screenshot=/etc/passwd", "state/screenshots/passwd"},
		{"local_screenshot=/x/..", ""},
		{"local_screenshot=", ""},
		{"local_screenshot=/a.png\nmore", ""},
		{"run_script exitCode=0 timedOut=false\nrunDir=/home/x/run-1\nstdout=a", "workspace/scripts/runs/run-1"},
		{"Human auth approved request_id=a message=m\nhuman_artifact=/x/a.json\nlocal_screenshot=/a.png", "state/screenshots/a.png state/human-auth-artifacts/a.json"},
	} {
		doc := decode(t, head+strings.Replace(step1, "ok", test.result, 1)+final)
		var asked []string
		openpocket.Codec().Homes.Names(doc.Header, doc.Conversation[1].Message, func(path string) bool {
			asked = append(asked, path)
			return false
		})
		if got := strings.Join(asked, " "); got != test.want {
			t.Errorf("%q asks for %q, expected %q", test.result, got, test.want)
		}
	}
	doc := decode(t, head+step1+final)
	for i, want := range []bool{false, false, true} {
		if got := openpocket.Codec().Homes.Names(doc.Header, doc.Conversation[i].Message, func(path string) bool { return path == "workspace/memory/2026-02-18.md" }); got != want {
			t.Errorf("message %d names something: %v", i, got)
		}
	}
}
