package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requireProgram finds a program that a test drives. Continuous integration has
// all of them (make test installs them).
func requireProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing; make test-tools installs it", name)
	}
	t.Skipf("%s is not installed; make test-tools installs it", name)
	return ""
}

// shellPath returns a PATH on which git domarkx list names two sessions.
func shellPath(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
case "$*" in
"domarkx list") printf 'talk\t1\ntable/of/two\t2\n' ;;
"domarkx workspace list") printf 'shop\t1\nshed\t2\n' ;;
"domarkx workspace show shop") printf 'saw\tfilesystem\nsander\tsqlite\n' ;;
remote) echo origin ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "git-domarkx"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + ":" + os.Getenv("PATH")
}

var completions = []struct {
	line string   // after "git-domarkx"
	want []string // among what is offered
	not  []string
}{
	{"", []string{"import", "list", "unmount"}, []string{"talk"}},
	{"re", []string{"rename", "restore", "rewind"}, []string{"list", "rm"}},
	{"show t", []string{"talk", "table/of/two"}, []string{"import"}},
	{"log --m", []string{"--messages"}, []string{"--json"}},
	{"completion f", []string{"fish"}, []string{"bash"}},
	{"append --role a", []string{"assistant"}, []string{"user"}},
	{"push o", []string{"origin"}, nil},
	{"workspace ", []string{"list", "log", "show"}, []string{"import", "shop", "talk"}},
	{"workspace log s", []string{"shop", "shed"}, []string{"talk"}},
	{"workspace path shop sa", []string{"saw", "sander"}, []string{"shop", "talk"}},
	{"workspace attach t", []string{"talk"}, []string{"shop"}},
	{"workspace attach talk s", []string{"shop", "shed"}, []string{"talk"}},
	{"workspace log --j", []string{"--json"}, []string{"--messages"}},
	{"show s", nil, []string{"shop"}},
}

func TestBashCompletion(t *testing.T) {
	bash := requireProgram(t, "bash")
	for _, spoken := range []string{"git-domarkx", "git domarkx"} {
		for _, c := range completions {
			words := append(strings.Fields(spoken), strings.Split(c.line, " ")...)
			script := `. completion/git-domarkx.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _git_domarkx; printf '%s\n' "${COMPREPLY[@]}"`
			cmd := exec.Command(bash, append([]string{"--norc", "-euc", script, "bash"}, words...)...)
			cmd.Env = append(os.Environ(), "PATH="+shellPath(t))
			checkOffers(t, cmd, strings.Join(words, " "), c.want, c.not)
		}
	}
}

func TestFishCompletion(t *testing.T) {
	fish := requireProgram(t, "fish")
	for _, c := range completions {
		cmd := exec.Command(fish, "--no-config", "-c", "source completion/git-domarkx.fish; complete -C 'git-domarkx "+c.line+"' | string split -f1 \\t; true")
		cmd.Env = append(os.Environ(), "PATH="+shellPath(t), "HOME="+t.TempDir())
		checkOffers(t, cmd, "git-domarkx "+c.line, c.want, c.not)
	}
}

// zshCapture completes a line in a zsh on a terminal of its own, for its
// completion works nowhere else, and prints what would be added.
const zshCapture = `
zmodload zsh/zpty
zpty z "$1" -f -i
zpty -w z 'PROMPT=; stty -echo; fpath=($PWD/completion $fpath); autoload -Uz compinit; compinit -u -d $HOME/zcompdump
begin() { print BEGINNING }
finish() { print FINISHED }
compprefuncs=(begin) comppostfuncs=(finish)
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits
  builtin compadd -A hits "$@"
  print -l -- $hits
  builtin compadd "$@"
}
bindkey "^I" complete-word
print REA""DY'
zpty -r z line '*READY*'
zpty -w -n z "$2"$'\t'
zpty -r z line '*BEGINNING*FINISHED*'
print -r -- "${line##*BEGINNING}" | tr -d '\r'
zpty -d z
`

func TestZshCompletion(t *testing.T) {
	zsh := requireProgram(t, "zsh")
	for _, c := range completions {
		cmd := exec.Command(zsh, "-f", "-c", zshCapture, "zsh", zsh, "git-domarkx "+c.line)
		cmd.Env = append(os.Environ(), "PATH="+shellPath(t), "HOME="+t.TempDir(), "TERM=dumb")
		checkOffers(t, cmd, "git-domarkx "+c.line, c.want, c.not)
	}
}

func checkOffers(t *testing.T, cmd *exec.Cmd, line string, want, not []string) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s<TAB>: %v\n%s", line, err, out)
		return
	}
	offers := strings.Fields(string(out))
	for _, w := range want {
		if !slices.Contains(offers, w) {
			t.Errorf("%s<TAB> does not offer %q:\n%s", line, w, out)
		}
	}
	for _, n := range not {
		if slices.Contains(offers, n) {
			t.Errorf("%s<TAB> offers %q:\n%s", line, n, out)
		}
	}
}
