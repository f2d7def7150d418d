package integration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestZeusHostile restores snapshots with malicious content.
func TestZeusHostile(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	pwn := `touch '` + f.path("pwned") + `'`
	nasty := []string{`$(` + pwn + `)`, "`" + pwn + "`", `"; ` + pwn + `; "`, `'; ` + pwn + ` #`, `#(` + pwn + `)`, `x;`, `\;`, `;`, `-x`, "a\nb", `\'; ` + pwn + `; '`}
	var entries []string
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
	}
	for i, text := range nasty {
		directory := strings.ReplaceAll(text, "/", "%")
		if err := os.MkdirAll(filepath.Join(f.work, directory), 0o777); err != nil {
			t.Fatal(err)
		}
		path := f.transcript(directory + "/s " + directory + ".jsonl")
		entries = append(entries, fmt.Sprintf(`{"kind":"hoplite","agent_id":"n-%[1]d","name":%[2]s,"role":%[2]s,"cwd":%[3]s,"tmux_session":"t %[1]d;","session_path":%[4]s,"owner_id":%[2]s,"phalanx_id":%[2]s}`,
			i, quote(text), quote(filepath.Join(f.work, directory)), quote(path)))
	}
	f.write("nasty.json", `{"schema_version":1,"entries":[`+strings.Join(entries, ",\n")+`]}`)
	f.domarkx("import", "nasty.json")
	f.must("", "tmux", "-f", "/dev/null", "new-session", "-d", "-s", "bystander", "sleep 1000")
	f.domarkx("zeus", "restore", "nasty")
	set := "\n" + f.must("", "tmux", "-u", "list-sessions", "-F", "#{session_name}|#{@zeus_name}|#{@zeus_owner}|")
	for i, text := range nasty {
		got := f.started(fmt.Sprintf("n-%d", i))
		directory := strings.ReplaceAll(text, "/", "%")
		for _, want := range []string{"\nZEUS_AGENT_NAME=" + text + "\n", "ZEUS_PARENT_ID=" + text + "\n", "--session\n" + filepath.Join(f.work, directory) + "/s " + directory + ".jsonl\n"} {
			// Lines are sorted, and one of the values has two lines.
			if first, _, _ := strings.Cut(strings.TrimPrefix(want, "\n"), "\n"); !strings.Contains(got, first) {
				t.Errorf("%q: no %q in\n%s", text, want, got)
			}
		}
		if name := strings.TrimSpace(text); !strings.Contains(set, fmt.Sprintf("\nt %d;|%s|%s|\n", i, name, name)) {
			t.Errorf("%q: the names and owners are%s", text, set)
		}
	}
	if _, err := os.Stat(f.path("pwned")); err == nil {
		t.Error("a command in the document was run")
	}

	// Session names that tmux could take for another session or would reject, and paths
	// where no transcript belongs.
	entry := func(id, session, path string) string {
		return fmt.Sprintf(`{"kind":"stygian","agent_id":"%s","cwd":%s,"tmux_session":%s,"session_path":%s}`, id, quote(f.work), quote(session), quote(path))
	}
	good := f.transcript("good.jsonl")
	f.write("secret", "root:x\n")
	f.write("bad.json", `{"schema_version":1,"entries":[`+strings.Join([]string{
		entry("b-0", "$0", good), entry("b-1", "a:b", good), entry("b-2", "=bystander", good), entry("b-3", "", good), entry("b-4", "ok", "relative.jsonl"),
	}, ",")+`]}`)
	f.domarkx("import", "bad.json")
	f.expect(1, []string{"restore", "bad"}, "b-0 | stygian | restored | *", "b-1 | stygian | failed | *", "b-2 | stygian | restored | *", "b-3 | stygian | failed | *", "b-4 | stygian | failed | *")
	if got := f.must("", "tmux", "show-options", "-t", "=bystander:"); strings.Contains(got, "zeus") {
		t.Errorf("the bystander: %s", got)
	}

	if all := f.try("", "tmux", "list-sessions", "-F", "#{session_name}").out; !strings.Contains(all, "$0\n") || !strings.Contains(all, "\n=bystander\n") {
		t.Errorf("sessions are\n%s", all)
	}

	// A session may only store files of this machine that are transcripts, and may only
	// write transcripts back.
	f.must("", "mkfifo", f.path("fifo"))
	if err := os.Symlink(f.path("secret"), f.path("link")); err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, name := range []string{"secret", "fifo", "link", ".", "none"} {
		taken = append(taken, entry("x-"+name, "x", f.path(name)))
	}
	f.write("take.json", `{"schema_version":1,"entries":[`+strings.Join(taken, ",")+`]}`)
	o := f.try("", "git-domarkx", "import", "--as", "taken", "take.json")
	if refused := strings.Count(o.err, "is not kept") + strings.Count(o.err, "(and 1 more like it)"); o.code != 0 || refused != len(taken) {
		t.Errorf("%s", o)
	}
	if all := f.git("cat-file", "--batch-all-objects", "--batch", "--buffer"); strings.Contains(all, "root:x") {
		t.Error("another file than a transcript was kept")
	}
	// proc(5) has files that never end.
	f.write("take.json", `{"schema_version":1,"entries":[`+entry("x", "x", "/proc/kmsg")+`]}`)
	for _, name := range []string{"one", "two"} {
		if o := f.try("", "git-domarkx", "import", "--as", name, "take.json"); o.code != 0 || !strings.Contains(o.err, "is not kept") && !strings.Contains(o.err, "ermission") {
			t.Errorf("%s", o)
		}
	}
	entries = nil
	var change strings.Builder
	places := []string{f.path("work/.profile"), f.dir + "/work/../evil.jsonl", "/proc/none/x.jsonl"}
	for i, place := range places {
		kept := f.transcript(fmt.Sprintf("rc%d.jsonl", i))
		entries = append(entries, entry(fmt.Sprintf("d-%d", i), fmt.Sprintf("d%d", i), kept))
		fmt.Fprintf(&change, " -e s,%s,%s,", kept, place)
	}
	f.write("drop.json", `{"schema_version":1,"entries":[`+strings.Join(entries, ",")+`]}`)
	f.domarkx("import", "drop.json")
	for i := range places {
		os.Remove(f.path(fmt.Sprintf("work/rc%d.jsonl", i)))
	}
	f.with("GIT_EDITOR=sed -i"+change.String()).domarkx("edit", "drop")
	f.expect(1, []string{"restore", "drop"}, "d-0 | stygian | failed | *", "d-1 | stygian | failed | *", "d-2 | stygian | failed | *")
	for _, place := range places {
		if _, err := os.Lstat(place); err == nil {
			t.Errorf("%s was written", place)
		}
	}

	for name, text := range map[string]string{
		"version": `{"schema_version":2,"entries":[` + entry("v", "v", good) + `]}`,
		"kind":    `{"schema_version":1,"entries":[` + strings.Replace(entry("v", "v", good), "stygian", "titan", 1) + `]}`,
	} {
		f.write(filepath.Join(f.home(), ".zeus/snapshots", name+".json"), text)
		f.expect(1, []string{"restore", name})
	}
	if o := f.try("", "git-domarkx", "zeus", "restore", "no-such"); o.code != 128 || o.out != "" {
		t.Errorf("%s", o)
	}
	f.sound()
}

// TestZeusLargeTranscript saves a transcript that exceeds the memory limit, and restores
// it to both places.
func TestZeusLargeTranscript(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	path := f.transcript("large.jsonl")
	const size, most = 160 << 20, 130 << 20
	if err := os.Truncate(path, size); err != nil { // a sparse file
		t.Fatal(err)
	}
	f.write("large.json", `{"schema_version":1,"entries":[{"kind":"stygian","agent_id":"l-1","cwd":"`+f.work+`","tmux_session":"large","session_path":"`+path+`"}]}`)
	want, _ := fileSum(t, path)
	for _, args := range [][]string{{"import", "large.json"}, {"zeus", "restore", "large"}, {"zeus", "restore", "--session-dir", "elsewhere", "large"}} {
		if _, peak := f.used("git-domarkx", args...); peak > most {
			t.Errorf("%q takes %d MiB of memory", args, peak>>20)
		}
		written := path
		if len(args) > 3 {
			written = f.path("elsewhere/large.jsonl")
		}
		if args[0] == "zeus" {
			if got, _ := fileSum(t, written); got != want {
				t.Errorf("%q: another transcript than was kept", args)
			}
			f.killServer()
		}
		os.Remove(path)
	}
}
