package agents_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// TestWindows finds agents in windows without Zeus's variables: Zeus has noted the
// window's number, and the window runs pi.
func TestWindows(t *testing.T) {
	home := t.TempDir()
	in := func(name string) string { return filepath.Join(home, name) }
	for _, name := range []string{"a.jsonl", "b c.jsonl", "c.jsonl", "d.jsonl"} {
		write(t, in(name), `{"type":"session","id":"x"}`+"\n", 0o666)
	}
	window := func(id int, env, cmdline, title string) string {
		return fmt.Sprintf(`{"id":%d,"pid":1,"cwd":"/w%[1]d","title":"%[4]s","env":{"PATH":"/bin"%[2]s},"cmdline":[%[3]s]}`, id, env, cmdline, title)
	}
	write(t, in("ls.json"), `[{"tabs":[{"windows":[`+strings.Join([]string{
		window(1, "", `"/usr/bin/pi","--session","`+in("a.jsonl")+`"`, "x"),
		window(2, "", `"zsh","-ilc","exec pi --session '`+in("b c.jsonl")+`'"`, "x"),
		window(3, "", `"bash"`, "π - repo"),
		window(4, "", `"bash"`, "a shell that has the number of a window that is gone"),
		window(5, "", `"pi"`, "not seen by Zeus"),
		window(6, `,"ZEUS_AGENT_NAME":"named","ZEUS_SESSION_PATH":"`+in("d.jsonl")+`"`, `"pi"`, "x"),
		window(7, `,"ZEUS_AGENT_NAME":"own","ZEUS_AGENT_ID":"own-id","ZEUS_SESSION_PATH":"/gone.jsonl"`, `"pi","--session=`+in("c.jsonl")+`"`, "x"),
	}, ",")+`]}]}]`, 0o666)
	key := in("kitty-1")
	write(t, in("state/zeus-agent-ids.json"), fmt.Sprintf(`{"%[1]s:1":"i1","%[1]s:2":"i2","%[1]s:3":"i3","%[1]s:4":"i4","%[1]s:6":" i6 ","%[1]s:7":"not this one","x":7}`, key), 0o666)
	write(t, in("state/zeus-names.json"), fmt.Sprintf(`{"%s:2":"renamed"}`, key), 0o666)
	write(t, in(".pi/agent/sessions/--w3--/1.jsonl"), "{}\n", 0o666)
	write(t, in("bin/kitty"), "#!/bin/sh\ncase \"$4\" in ls) exec /bin/cat '"+in("ls.json")+"' ;; esac\n", 0o777)
	t.Setenv("PATH", in("bin"))

	desk := &agents.Desk{Kitty: []string{"unix:" + key}, StateDirs: []string{in("state")}, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	live, err := desk.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snapshot, rows, err := desk.Snapshot(live, "host", time.Unix(0, 0))
	if err != nil || snapshot == nil {
		t.Fatalf("%v: %+v", err, rows)
	}
	v, err := domarkx.ParseValue(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := v.Get("entries")
	var got []string
	for _, e := range entries.Items() {
		got = append(got, strings.Join([]string{zeus.Text(e, "agent_id"), zeus.Text(e, "name"), zeus.Text(e, "cwd"), zeus.Text(e, "session_source"),
			filepath.Base(zeus.Text(e, "session_path"))}, " "))
	}
	want := []string{"i1 pi-1 /w1 env a.jsonl", "i2 renamed /w2 env b c.jsonl", "i3 pi-3 /w3 cwd 1.jsonl", "i6 named /w6 env d.jsonl", "own-id own /w7 env c.jsonl"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
