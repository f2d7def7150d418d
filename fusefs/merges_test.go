//go:build linux

package fusefs_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestBaseIsWhatTheProcessRead(t *testing.T) {
	t.Parallel()
	slow(t)
	m := mounted(t)
	// Each reads the session, lets it change elsewhere, and saves over the change.
	// outside waits until the test made it.
	const outside = `touch $T/read; until test -e $T/changed; do sleep 0.01; done; `
	const wait = `
open(os.environ["T"] + "/read", "w")
while not os.path.exists(os.environ["T"] + "/changed"):
    time.sleep(0.01)
`
	python := map[string]string{
		"write":  "import os, time\ns = open('s.md').read()" + wait + "open('s.md', 'w').write(s + 'mine\\n')\n",
		"rename": "import os, time\ns = open('s.md').read()" + wait + "open('.tmp', 'w').write(s + 'mine\\n')\nos.rename('.tmp', 's.md')\n",
	}
	for name, script := range python {
		if err := os.WriteFile(m.dir+"/"+name+".py", []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]string{
		"same process":          `exec python3 $T/write.py`,
		"by rename":             `exec python3 $T/rename.py`,
		"same group":            `(cat s.md; echo mine) > $T/text; ` + outside + `cat $T/text > s.md`,
		"same group, by rename": `(cat s.md; echo mine) > .text; ` + outside + `mv .text s.md`,
		"same group, new file":  `(cat s.md; echo mine) > $T/text; ` + outside + `rm s.md; cp $T/text s.md`,
		"backup and new file":   `(cat s.md; echo mine) > $T/text; ` + outside + `mv s.md s.md~; cp $T/text s.md; rm s.md~`,
		"descriptor open":       `exec 3>>s.md; ` + outside + `echo mine >&3; exec 3>&-`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			m := *m
			m.TB = t
			os.Remove(m.dir + "/read")
			os.Remove(m.dir + "/changed")
			m.outside("s", doc)
			before := m.stored("s")
			done := make(chan string)
			go func() {
				out, err := m.trySh(script)
				if err != nil {
					out += err.Error()
				}
				done <- out
			}()
			m.eventually("it was read", func() bool { _, err := os.Stat(m.dir + "/read"); return err == nil })
			m.outside("s", doc+"theirs\n")
			if err := os.WriteFile(m.dir+"/changed", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if out := <-done; out != "" {
				t.Fatal(out)
			}
			merged := doc + "theirs\nmine\n"
			m.settle()
			m.eventually("the merge shows", func() bool { return m.read("sessions/s.md") == merged })
			m.expect("s", append(before, doc+"theirs\n", doc+"mine\n", merged)...)
			if got := m.read("errors/s.md"); !strings.Contains(got, "merged") || !strings.HasSuffix(got, doc+"mine\n") {
				t.Errorf("errors: %q", got)
			}
			m.sh(`echo more >> s.md`)
			m.settle()
			if got := m.sh(`ls ../errors`); got != "" {
				t.Errorf("errors/ has %q after a good save", got)
			}
		})
	}
}

func TestSavingWithoutReadingReplaces(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	m.read("sessions/s.md") // by another process than that which saves
	m.outside("s", doc+"theirs\n")
	m.sh(`echo mine > s.md`)
	m.expect("s", doc, doc+"theirs\n", "mine\n")
}

// TestASaveAfterARenameIsSaved: in the store there are sessions that this mount has not touched, and the kernel knows their files.
func TestASaveAfterARenameIsSaved(t *testing.T) {
	t.Parallel()
	for rename, name := range map[string]string{"mv b.md a.md": "a", "mv b.md c.md": "c", "mkdir d; mv b.md d/b.md": "d/b", "mv x y": "y/s"} {
		t.Run(rename, func(t *testing.T) {
			t.Parallel()
			m := mounted(t)
			for _, s := range []string{"a", "b", "x/s"} {
				m.outside(s, "of "+s+"\n")
			}
			m.sh("cat a.md b.md x/s.md; " + rename + "; echo new > " + name + ".md")
			m.settle()
			if all := m.stored(name); len(all) == 0 || all[len(all)-1] != "new\n" {
				t.Errorf("the snapshots are %q", all)
			}
		})
	}
}

func TestASaveAfterAMergeIsMadeFromTheSaveBefore(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", "a\n")
	cmd := exec.Command("python3", "-c", `
import sys
s = open("s.md").read()
for line in sys.stdin:
    s += line
    open("s.md", "w").write(s)
    print("saved", flush=True)
`)
	cmd.Dir = m.path("sessions")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	save := func(line string) {
		if _, err := in.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		m.settle()
	}
	save("b\n")
	m.outside("s", "a\nb\ntheirs\n")
	save("c\n")
	save("d\n")
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := m.read("sessions/s.md"), "a\nb\ntheirs\nc\nd\n"; got != want {
		t.Errorf("merged: %q, want %q; snapshots %q", got, want, m.stored("s"))
	}
}

func TestTwoWritersBothStay(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", "a\n")
	for _, who := range []string{"x", "y"} { // both read before either saves
		cmd := exec.Command("python3", "-c", `
import os, sys
s = open("s.md").read()
print(flush=True)
sys.stdin.readline()
open("s.md", "w").write(s + sys.argv[1] + "\n")
`, who)
		cmd.Dir = m.path("sessions")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			m.settle()
			got := m.read("sessions/s.md")
			if !strings.Contains(got, who+"\n") {
				t.Errorf("%s is lost: %q", who, got)
			}
		}()
	}
}
