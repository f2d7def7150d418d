//go:build linux

package fusefs_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestEditors needs python3 and Debian's packages vim, nano and emacs-nox.
func TestEditors(t *testing.T) {
	slow(t)
	for _, program := range []string{"vim", "nano", "emacs", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%v\napt-get install vim nano emacs-nox python3", err)
		}
	}
	m := mounted(t)
	const added = doc + "added\n"
	const vim = `vim -N -u NONE -i NONE `
	tests := map[string]struct{ script, want string }{
		"vim":                   {vim + `-es -c 'normal Goadded' -c 'wq' s.md`, added},
		"vim, backup":           {vim + `-es --cmd 'set backup writebackup backupdir=. swapfile' -c 'normal Goadded' -c 'wq' s.md; rm -f s.md~`, added},
		"vim, backup by copy":   {vim + `-es --cmd 'set backup writebackup backupdir=. backupcopy=yes' -c 'normal Goadded' -c 'wq' s.md; rm -f s.md~`, added},
		"vim, backup by rename": {vim + `-es --cmd 'set backup writebackup backupdir=. backupcopy=no undofile undodir=.' -c 'normal Goadded' -c 'wq' s.md; rm -f s.md~ .s.md.un~`, added},
		"vim, two saves":        {vim + `-es --cmd 'set backup backupdir=.' -c 'normal Goadd' -c 'w' -c 'normal Aed' -c 'wq' s.md; rm -f s.md~`, added},
		"emacs":                 {`emacs -Q --batch --eval '(progn (find-file "s.md") (goto-char (point-max)) (insert "added\n") (save-buffer))' 2>$T/out; rm -f s.md~`, added},
		"emacs, two saves":      {`emacs -Q --batch --eval '(progn (find-file "s.md") (goto-char (point-max)) (insert "add") (save-buffer) (insert "ed\n") (save-buffer))' 2>$T/out; rm -f s.md~`, added},
		"emacs, by copy":        {`emacs -Q --batch --eval '(progn (setq backup-by-copying t) (find-file "s.md") (goto-char (point-max)) (insert "added\n") (save-buffer))' 2>$T/out; rm -f s.md~`, added},
		"emacs, precious":       {`emacs -Q --batch --eval '(progn (find-file "s.md") (setq file-precious-flag t) (goto-char (point-max)) (insert "added\n") (save-buffer))' 2>$T/out; rm -f s.md~`, added},
		"in place, as VS Code": {`python3 -c '
import os
s = open("s.md", "rb").read() + b"added\n"
fd = os.open("s.md", os.O_RDWR); os.ftruncate(fd, 0); os.write(fd, s); os.fdatasync(fd); os.close(fd); os.stat("s.md")'`, added},
		"atomically, as VS Code": {`python3 -c '
import os
s = open("s.md", "rb").read() + b"added\n"
fd = os.open("s.md.vsctmp", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600); os.write(fd, s); os.fsync(fd); os.close(fd)
os.chmod("s.md.vsctmp", 0o644); os.rename("s.md.vsctmp", "s.md"); d = os.open(".", os.O_RDONLY); os.fsync(d)'`, added},
		"as gedit": {`python3 -c '
import os
s = open("s.md", "rb").read() + b"added\n"
fd = os.open(".goutputstream-ABCDEF", os.O_RDWR | os.O_CREAT | os.O_EXCL); os.write(fd, s); os.fsync(fd); os.close(fd)
os.link("s.md", "s.md~"); os.rename(".goutputstream-ABCDEF", "s.md"); os.unlink("s.md~")'`, added},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := *m
			m.TB = t
			m.outside("s", doc)
			before := m.stored("s")
			out := m.sh(tt.script)
			if got := m.read("sessions/s.md"); got != tt.want {
				t.Errorf("reads back %q; the editor says %q", got, out)
			}
			if got := m.sh(`ls -A; ls -A ../errors`); got != "s.md\n" {
				t.Errorf("left behind: %q", got)
			}
			m.expect("s", append(before, tt.want)...)
			if got := m.sessions(); got != "s" {
				t.Errorf("sessions are %q", got)
			}
		})
	}
}

func TestEditorsAtATerminal(t *testing.T) {
	slow(t)
	m := mounted(t)
	tests := map[string]func(m *mount){
		"vim": func(m *mount) {
			m.terminal("vim", "-N", "-u", "NONE", "-i", "NONE", "s.md").expect("hello").press("Goadded\x1b").expect("added").press(":wq\r").end()
		},
		"nano": func(m *mount) {
			m.terminal("nano", "-I", "s.md").expect("hello").press("\x1b/added").expect("added").press("\x18").expect("Save modified").press("y").expect("File Name").press("\r").end()
		},
		"nano -B": func(m *mount) {
			m.terminal("nano", "-I", "-B", "s.md").expect("hello").press("\x1b/added").expect("added").press("\x18").expect("Save modified").press("y").expect("File Name").press("\r").end()
			m.sh(`rm s.md~`)
		},
		"emacs": func(m *mount) {
			m.terminal("emacs", "-Q", "-nw", "s.md").expect("hello").press("\x1b>added\r").expect("added").press("\x18\x13").expect("Wrote").press("\x18\x03").end()
			m.sh(`rm s.md~`)
		},
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			m := *m
			m.TB = t
			m.outside("s", doc)
			before := m.stored("s")
			edit(&m)
			if got := m.read("sessions/s.md"); got != doc+"added\n" {
				t.Errorf("reads back %q", got)
			}
			if got := m.sh(`ls -A; ls -A ../errors`); got != "s.md\n" {
				t.Errorf("left behind: %q", got)
			}
			m.expect("s", append(before, doc+"added\n")...)
		})
	}
}

func TestAnEditorIsNotToldOfItsOwnSave(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	vim := m.terminal("vim", "-N", "-u", "NONE", "-i", "NONE", "s.md").expect("hello").press("Goone\x1b:w\r").expect("written")
	m.settle()
	// vim asks when the file that it wrote is not as it left it: its time, or content.
	out := vim.press(":checktime\r").press("Gotwo\x1b:w\r").expect("written").press(":q\r").end()
	if strings.Contains(out, "W11") || strings.Contains(out, "W12") || strings.Contains(out, "changed since") {
		t.Errorf("vim warns: %q", out)
	}
	m.expect("s", doc, doc+"one\n", doc+"one\ntwo\n")
}

func TestAnEditorThatIsOvertakenMerges(t *testing.T) {
	t.Parallel()
	m := mounted(t)
	m.outside("s", doc)
	vim := m.terminal("vim", "-N", "-u", "NONE", "-i", "NONE", "s.md").expect("hello")
	m.outside("s", doc+"theirs\n")
	vim.press("Gomine\x1b:w\r").expect("changed since").press("y\r").expect("written").press(":q!\r").end()
	m.settle()
	if got, want := m.read("sessions/s.md"), doc+"theirs\nmine\n"; got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}
