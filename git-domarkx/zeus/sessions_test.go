package zeus_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

// keep returns the digest of a text and a function that opens it by that digest.
func keep(text string) (digest string, open func(context.Context, string) (domarkx.Content, error)) {
	sum := sha256.Sum256([]byte(text))
	digest = hex.EncodeToString(sum[:])
	return digest, func(_ context.Context, asked string) (domarkx.Content, error) {
		if asked != digest {
			return nil, errors.New("no such file is stored")
		}
		return content{bytes.NewReader([]byte(text))}, nil
	}
}

// TestMissingSession writes a missing session file from the copy in the snapshot.
func TestMissingSession(t *testing.T) {
	d := newDesktop(t)
	digest, open := keep(piSession)
	e := d.stygian("e", "s")
	if err := os.Remove(e.Path); err != nil {
		t.Fatal(err)
	}
	e.Digest = digest
	request := zeus.RestoreRequest{Entries: []zeus.Entry{e}, Kept: open}
	d.expect(d.restore(request), `e restored in the tmux session "s"`)
	d.started("e")
	if data, err := os.ReadFile(e.Path); err != nil || string(data) != piSession {
		t.Errorf("%q, %v", data, err)
	}
	request.IfRunning = zeus.IfRunningReplace

	// Elsewhere, beside another file of the same name.
	for i, path := range []string{"elsewhere/e.jsonl", "elsewhere/e-" + digest[:12] + ".jsonl"} {
		if i == 1 {
			d.write("elsewhere/e.jsonl", "another session", 0o666)
		}
		if err := os.RemoveAll(d.path("sessions")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(d.path("started/e")); err != nil {
			t.Fatal(err)
		}
		request.SessionDir = d.path("elsewhere")
		d.restore(request)
		if got := d.started("e"); !strings.Contains(got, "ZEUS_SESSION_PATH="+d.path(path)+"\n") {
			t.Errorf("%s: %s", path, got)
		}
	}
	// A session that has continued is used as it is.
	d.write("elsewhere/e.jsonl", piSession+"{}\n", 0o666)
	if err := os.Remove(d.path("started/e")); err != nil {
		t.Fatal(err)
	}
	d.restore(request)
	if got := d.started("e"); !strings.Contains(got, "ZEUS_SESSION_PATH="+d.path("elsewhere/e.jsonl")+"\n") {
		t.Errorf("continued: %s", got)
	}
}

// TestHostileSession checks that a snapshot cannot write anything but session files.
func TestHostileSession(t *testing.T) {
	for name, test := range map[string]struct{ path, text, err string }{
		"another extension": {"x/.bashrc", piSession, "its name does not end in .jsonl"},
		"dots":              {"x/../../e.jsonl", piSession, "has . or .. in it"},
		"no transcript":     {"x/e.jsonl", "#!/bin/sh\n", "no session of pi"},
		"not stored":        {"x/e.jsonl", "", "no such file is stored"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			e := d.stygian("e", "s")
			digest, open := keep(test.text)
			e.Path, e.Digest = d.home+"/"+test.path, digest
			if test.text == "" {
				e.Digest = strings.Repeat("0", 64)
			}
			got := d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{e}, Kept: open})
			if len(got) != 1 || !strings.Contains(got[0], "e failed") || !strings.Contains(got[0], test.err) {
				t.Errorf("got %q", got)
			}
			if _, err := os.Stat(d.path("x")); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// TestNotes checks which of an agent's notes about its session counts.
func TestNotes(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		note string
		env  map[string]string
		want string // session_source
	}{
		"note":               {`{"agentId":"w","sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, nil, "runtime noted.jsonl"},
		"home":               {`{"sessionPath":" ~/noted.jsonl ","updatedAt":"2026-01-02T11:00:00Z"}`, nil, "runtime noted.jsonl"},
		"of another agent":   {`{"agentId":"v","sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, nil, "cwd 1.jsonl"},
		"too old":            {`{"sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-01T11:00:00Z"}`, nil, "cwd 1.jsonl"},
		"old enough":         {`{"sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-01T11:00:00Z"}`, map[string]string{"ZEUS_SESSION_MAP_MAX_AGE_S": "1e6"}, "runtime noted.jsonl"},
		"invalid age":        {`{"sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, map[string]string{"ZEUS_SESSION_MAP_MAX_AGE_S": "-1"}, "runtime noted.jsonl"},
		"no time":            {`{"sessionPath":"HOME/noted.jsonl"}`, nil, "cwd 1.jsonl"},
		"missing file":       {`{"sessionPath":"HOME/gone.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, nil, "cwd 1.jsonl"},
		"relative":           {`{"sessionPath":"noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, nil, "cwd 1.jsonl"},
		"not JSON":           {`{`, nil, "cwd 1.jsonl"},
		"directory set":      {`{"sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, map[string]string{"ZEUS_SESSION_MAP_DIR": "~/other"}, "cwd 1.jsonl"},
		"same directory set": {`{"sessionPath":"HOME/noted.jsonl","updatedAt":"2026-01-02T11:00:00Z"}`, map[string]string{"ZEUS_SESSION_MAP_DIR": "~/state/session-map"}, "runtime noted.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			d.terminals.Now = func() time.Time { return now }
			for name, value := range test.env {
				d.env[name] = value
			}
			d.write("noted.jsonl", piSession, 0o666)
			d.write(".pi/agent/sessions/--w--/1.jsonl", piSession, 0o666)
			d.write("state/session-map/w.json", strings.ReplaceAll(test.note, "HOME", d.home), 0o666)
			d.kitty(`{"id":1,"pid":1,"cwd":"/w","env":{"ZEUS_AGENT_NAME":"n","ZEUS_AGENT_ID":"w"},"cmdline":["pi"]}`)
			source, path := d.session()
			if got := source + " " + path[strings.LastIndexByte(path, '/')+1:]; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
