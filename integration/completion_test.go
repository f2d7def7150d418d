package integration_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completionSite returns a repository with the session talk, which has four messages, a directory and a file.
func completionSite(t *testing.T) *site {
	t.Helper()
	needProgram(t, "bash", "zsh", "fish")
	s := newRepository(t).with("TERM=dumb", "LC_ALL=C.UTF-8")
	sample, err := os.ReadFile("../git-domarkx/testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	s.write("talk.md", string(sample))
	s.domarkx("import", "talk.md")
	s.domarkx("append", "--new", "-m", "one more", "talk")
	s.write("directory/note.txt", "")
	return s
}

// completions maps command lines after "git domarkx" to words that the shell must offer
// for the last word, and words that it must not offer. The program says what may come next; git-domarkx/complete_test.go and
// completion_test.go check that for all kinds of arguments. These lines differ in how a shell splits, selects or inserts words.
func completions(s *site) map[string]struct{ want, not []string } {
	oid := strings.TrimSpace(s.git("rev-parse", "--short=10", "refs/domarkx/sessions/talk"))
	return map[string]struct{ want, not []string }{
		"":                         {[]string{"import", "list", "unmount"}, []string{"talk", "talk.md", "__complete"}},
		"re":                       {[]string{"rename", "restore", "rewind"}, []string{"list", "rm"}},
		"show t":                   {[]string{"talk"}, []string{"talk.md", "import"}},
		"show talk#":               {[]string{"talk#0", "talk#4"}, []string{"talk"}},
		"show talk:":               {[]string{"talk:0", "talk:4"}, nil},
		"show talk@":               {[]string{"talk@" + oid}, nil},
		"rewind talk@" + oid[:4]:   {[]string{"talk@" + oid}, nil},
		"log --m":                  {[]string{"--messages"}, []string{"--json"}},
		"export --format a":        {[]string{"agent-chatter"}, []string{"pi"}},
		"export --format=a":        {[]string{"--format=agent-chatter"}, []string{"--format=pi"}},
		"import t":                 {[]string{"talk.md"}, []string{"talk"}},
		"mount d":                  {[]string{"directory"}, nil},
		"workspace ":               {[]string{"attach", "log", "show"}, []string{"import", "talk"}},
		"show talk ":               {nil, []string{"talk", "talk.md"}},
		"show -- t":                {[]string{"talk"}, nil},
		"no-such-command and more": {nil, []string{"talk", "talk.md"}},
	}
}

// checkCompletions installs the completion of a shell. It then runs a program that
// completes the command lines in its arguments and prints "== LINE" and the offered words
// for each.
func checkCompletions(s *site, shell, installed, capture string, run ...string) {
	t := s.tb
	s.write(filepath.Join(".shell", installed), s.must("", "git-domarkx", "completion", shell))
	cases := completions(s)
	lines := []string{"git-domarkx re", "git-domarkx show talk#", "git-domarkx export --format=a", "git -C . domarkx re", "git -C . domarkx export --format a"}
	for typed := range cases {
		lines = append(lines, "git domarkx "+typed)
	}
	s.write(".shell/capture", capture)
	out := "\n" + s.must("", run[0], append(run[1:], lines...)...)
	for _, line := range lines {
		_, rest, found := strings.Cut(out, "\n== "+line+"\n")
		if !found {
			t.Errorf("%s<TAB> did not end:\n%s", line, out)
			continue
		}
		rest, _, _ = strings.Cut("\n"+rest, "\n== ")
		var offers []string
		for _, word := range strings.Fields(rest) {
			offers = append(offers, strings.TrimSuffix(word, "/"))
		}
		typed := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "git-domarkx"), "git"), " -C ."), " domarkx")
		typed = strings.TrimPrefix(typed, " ")
		for _, w := range cases[typed].want {
			// Of several candidates, bash inserts the first after the typed text, and the
			// others unchanged.
			tail := w[max(0, strings.LastIndexAny(w, "@"), strings.LastIndexAny(w, "=:")+1):]
			if !slices.Contains(offers, w) && !(shell == "bash" && slices.Contains(offers, tail)) {
				t.Errorf("%s<TAB> does not offer %q: %q", line, w, offers)
			}
		}
		for _, n := range cases[typed].not {
			if slices.Contains(offers, n) {
				t.Errorf("%s<TAB> offers %q: %q", line, n, offers)
			}
		}
	}
}

// bashCapture makes readline insert all completions (M-*), and prints the words after the
// typed ones.
const bashCapture = `
zmodload zsh/zpty
zpty b env PS1= bash --norc --noprofile -i
zpty -w b "stty -echo; bind 'set bell-style none'; . /usr/share/bash-completion/completions/git; . ./.shell/git-domarkx.bash; words() { shift \$1; printf '<%s>\n' \"\$@\"; echo FINI''SHED; }; echo REA''DY"
zpty -r b out '*READY*'
for line; do
  typed=(${(z)${line% *}})
  zpty -w -n b $line$'\e*\C-a'"words $(( $#typed + 1 )) "$'\n'
  zpty -r b out '*FINISHED*'
  print -r -- "== $line"
  print -rl -- ${${${(M)${(f)${out//$'\r'/}}:#\<*\>}#\<}%\>}
done
zpty -d b
`

const fishCapture = `
source .shell/git-domarkx.fish
for line in $argv
    echo "== $line"
    complete -C $line | string split -f1 \t
end
true
`

// zshCapture completes in a zsh on a pseudo-terminal, because its completion needs one,
// and prints the words that zsh would add. Zsh clears compprefuncs after each use.
const zshCapture = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; stty -echo; fpath=($PWD/.shell $fpath); autoload -Uz compinit; compinit -u -d $PWD/.shell/zcompdump
begin() { compprefuncs=(begin) comppostfuncs=(finish); print BEGINNING }
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
zpty -r z out '*READY*'
for line; do
  zpty -w -n z $line$'\t'
  zpty -r z out '*BEGINNING*FINISHED*'
  print -r -- "== $line"
  print -r -- "${${out##*BEGINNING}%FINISHED*}" | tr -d '\r'
  zpty -w -n z $'\C-u'
done
zpty -d z
`

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := completionSite(t)
	t.Run("bash", func(t *testing.T) {
		checkCompletions(s.under(t), "bash", "git-domarkx.bash", bashCapture, "zsh", "-f", ".shell/capture")
	})
	t.Run("fish", func(t *testing.T) {
		checkCompletions(s.under(t), "fish", "git-domarkx.fish", fishCapture, "fish", ".shell/capture")
	})
	t.Run("zsh", func(t *testing.T) {
		checkCompletions(s.under(t), "zsh", "_git-domarkx", zshCapture, "zsh", "-f", ".shell/capture")
	})
}
