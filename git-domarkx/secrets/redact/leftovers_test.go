package redact_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

// TestLeftovers redacts the files of the state directory that other commands left: texts, logs and records.
func TestLeftovers(t *testing.T) {
	const mark = "[REDACTED:github-pat:1]"
	half := len(secret) / 2
	for name, tt := range map[string]struct{ content, want string }{
		"calls/a.json":           {`{"session": "s", "code": "with ` + secret + `"}`, `{"session": "s", "code": "with ` + mark + `"}`},
		"calls/plain.json":       {`{"session": "s"}`, `{"session": "s"}`},
		"calls/binary":           {"\x00\xff" + secret + "\x00", "\x00\xff" + mark + "\x00"},
		"deep/er/still/a":        {"x " + secret, "x " + mark},
		"edit-7/talk.md":         {"PASSWORD=hunter2hunter2 " + secret, "PASSWORD=[REDACTED:password-assignment:2] " + mark},
		"other-7/talk.md":        {"PASSWORD=hunter2hunter2", "PASSWORD=hunter2hunter2"}, // not a secret of the session
		"mount.log":              {"a " + secret + " b " + secret, "a " + strings.Repeat("*", len(secret)) + " b " + strings.Repeat("*", len(secret))},
		"recording/log":          {"save of " + secret + "\n", "save of " + strings.Repeat("*", len(secret)) + "\n"},
		"turns/a.stream":         {"{}\n{\"text\":\"x " + secret[:half] + "\"}\n{\"text\":\"" + secret[half:] + " y\"}\n", "{}\n{\"text\":\"x " + mark + " y\"}\n"},
		"turns/thought.stream":   {"{}\n{\"thought\":\"" + secret + "\"}\n{\"text\":\"b\"}\n", "{}\n{\"thought\":\"" + mark + "\"}\n{\"text\":\"b\"}\n"},
		"turns/plain.stream":     {"{}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n", "{}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n"},
		"turns/half.stream":      {"{}\n{\"text\":\"" + secret + "\"}\n{\"text\":\"b", "{}\n{\"text\":\"" + mark + "\"}\n"},
		"turns/beginning.stream": {"{\"text\":\"" + secret, ""}, // no reader uses it
		"usage-cache":            {secret, "-"},
		"search.db":              {secret, "-"},
		"search.db-wal":          {secret, "-"},
		"observed/w/stat":        {secret, "-"},
		"lockfile.lock":          {secret, secret}, // another process holds it; no text is ever in one
	} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			p := newPeer(enginetest.New(t))
			p.Appended("s", "Use "+secret+".")
			path := p.WriteFile(".git/domarkx/"+name, tt.content)
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			p.redact(redact.Request{Name: "s"})
			data, err := os.ReadFile(path)
			if got := string(data); got != tt.want && (tt.want != "-" || !errors.Is(err, os.ErrNotExist)) {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
			if strings.HasSuffix(name, "log") { // a process appends to it
				if now, err := os.Stat(path); err != nil || !os.SameFile(before, now) {
					t.Errorf("the log is another file: %v", err)
				}
			}
		})
	}
}

// TestDrafts redacts texts that could not be saved. Those of the redacted session lose what the rules find, and all others
// lose the known secrets.
func TestDrafts(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	old := p.Appended("s", "Use "+secret+".").ID
	beside := p.Appended("beside", "Nothing.").ID
	dir := filepath.Join(p.Env.StateDir, "drafts")
	journal, err := drafts.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := "long work with " + secret + " and PASSWORD=hunter2hunter2\n"
	for _, d := range []drafts.Draft{
		{Name: "s", Base: old, State: drafts.Broken, Data: []byte(text), Problem: "line 1 has " + secret},
		{Name: "beside", Base: beside, State: drafts.Broken, Data: []byte(strings.ReplaceAll(text, "hunter2", "hunter3"))},
	} {
		if _, err := journal.Put(d); err != nil {
			t.Fatal(err)
		}
	}
	refs := p.refs("refs")
	if _, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s"}); !errors.Is(err, drafts.ErrInUse) || !strings.Contains(err.Error(), "nothing was redacted") || p.refs("refs") != refs {
		t.Errorf("while a mount holds them: %v", err)
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
	p.redact(redact.Request{Name: "s"})
	list, err := drafts.List(dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, d := range list {
		want, base := "long work with [REDACTED:github-pat:1] and PASSWORD=hunter3hunter3\n", beside
		if d.Name == "s" {
			want, base = "long work with [REDACTED:github-pat:1] and PASSWORD=[REDACTED:password-assignment:2]\n", p.Tip("s").ID
		}
		if string(d.Data) != want || d.Base != base || strings.Contains(d.Problem, secret) {
			t.Errorf("%+v, want %q after %s", d, want, base)
		}
	}
}

// TestRenamings finds new names for sessions whose names have secrets.
func TestRenamings(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	name := "log-" + secret
	p.Appended(name, "Nothing.")
	p.Appended("alone", "Nothing.")
	named := func(of string) []redact.Renaming {
		t.Helper()
		all, err := p.redactions.Renamings(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got := named("alone"); len(got) != 0 {
		t.Errorf("a session that shares nothing: %+v", got)
	}
	if got := named(name); !slices.Equal(got, []redact.Renaming{{From: name, To: "log-redacted-github-pat"}}) {
		t.Errorf("%+v", got)
	}
	// Names that are taken, by another session and by another renaming.
	p.Appended("log-redacted-github-pat", "Nothing.")
	fork := "log-" + secret[:len(secret)-1] + "7"
	if _, err := p.Fork(t.Context(), revision(name), fork); err != nil {
		t.Fatal(err)
	}
	got := named(name)
	var to []string
	for _, r := range got {
		to = append(to, r.To)
	}
	slices.Sort(to)
	if !slices.Equal(to, []string{"log-redacted-github-pat-2", "log-redacted-github-pat-3"}) {
		t.Errorf("%+v", got)
	}
	for _, r := range got {
		if _, err := p.Rename(t.Context(), r.From, r.To); err != nil {
			t.Fatal(err)
		}
	}
	if got := named(to[0]); len(got) != 0 {
		t.Errorf("after the renaming: %+v", got)
	}
	// Former names are in reflogs and in records. A redaction without another secret removes them.
	p.WriteFile(".git/domarkx/calls/a.json", `{"session": "`+name+`"}`)
	if result := p.redact(redact.Request{Name: to[0]}); result.Replaced != 0 {
		t.Errorf("%+v", result)
	}
	if found := slices.DeleteFunc(p.files(secret), func(path string) bool { return filepath.Base(path) == "renamed.json" }); len(found) > 0 {
		t.Errorf("the former name is in %q", found)
	}
	// In the trash.
	if _, err := p.Fork(t.Context(), revision(to[0]), fork); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Remove(t.Context(), fork, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := p.redactions.Renamings(t.Context(), to[0]); err == nil || strings.Contains(err.Error(), secret[:10]) || !strings.Contains(err.Error(), "empty the trash") {
		t.Errorf("in the trash: %v", err)
	}
	if _, err := p.redactions.Renamings(t.Context(), "none"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
}

// TestSharedObjects redacts a session with a fork, a session in the trash and one that has the same message by chance. What
// shares the history is redacted with it; the other one is not, though it shares objects.
func TestSharedObjects(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	p.Appended("s", "Use "+secret+".")
	p.Appended("chance", "Use "+secret+".")
	for _, fork := range []string{"fork", "removed"} {
		if _, err := p.Fork(t.Context(), revision("s"), fork); err != nil {
			t.Fatal(err)
		}
	}
	p.Appended("fork", "The fork has "+other+".")
	if _, err := p.Remove(t.Context(), "removed", nil); err != nil {
		t.Fatal(err)
	}
	chance := p.Tip("chance").ID
	result := p.redact(redact.Request{Name: "fork"})
	for _, want := range []redact.Shared{{Kind: "session", Name: "s"}, {Kind: "session", Name: "fork"}, {Kind: "session", Name: "removed", Removed: true}} {
		if !slices.Contains(result.Shared, want) {
			t.Errorf("%+v is not among %+v", want, result.Shared)
		}
	}
	if len(result.Shared) != 3 || result.Secrets != 2 {
		t.Errorf("%+v", result)
	}
	if _, err := p.Restore(t.Context(), "removed"); err != nil {
		t.Fatal(err)
	}
	if p.Tip("removed").ID != p.Tip("s").ID || strings.Contains(p.Shown("removed"), secret) {
		t.Error("the session from the trash is not redacted")
	}
	if p.Tip("chance").ID != chance || !strings.Contains(p.Shown("chance"), secret) {
		t.Error("a session that shares only objects changed")
	}
	p.redact(redact.Request{Name: "chance"})
	p.without(secret, other)
	p.Fsck()
}

// TestMask overwrites secrets in a file in its place, and says what prevents it.
func TestMask(t *testing.T) {
	table := placeholder.New(scanner(), nil)
	table.Note([]byte(token(1)), false)
	path := filepath.Join(t.TempDir(), "log")
	text := "a " + token(1) + token(1) + "\nb"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := redact.Mask(table, path, []byte(text)); err != nil {
		t.Fatal(err)
	}
	stars := strings.Repeat("*", len(token(1)))
	if data, err := os.ReadFile(path); err != nil || string(data) != "a "+stars+stars+"\nb" {
		t.Errorf("%q, %v", data, err)
	}
	if err := redact.Mask(table, filepath.Join(path, "none"), []byte(text)); err == nil {
		t.Error("a file that cannot be opened: no error")
	}
	if err := redact.Mask(table, filepath.Join(path, "none"), []byte("nothing")); err != nil {
		t.Errorf("nothing to mask: %v", err)
	}
}

// FuzzStream looks for journals of answers that panic or keep a whole secret.
func FuzzStream(f *testing.F) {
	f.Add([]byte("{\"format\":1}\n{\"text\":\"x "+token(1)[:9]+"\"}\n{\"text\":\""+token(1)[9:]+"\"}\n"), 1)
	f.Add([]byte("{}\n{\"thought\":\"a\"}\n{\"text\":\"b\"}"), 0)
	scan := scanner()
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		table := placeholder.New(scan, nil)
		table.Note([]byte(token(n&3)), false)
		if now, changed := redact.Stream(table, data); changed {
			if again, twice := redact.Stream(table, now); twice {
				t.Errorf("%q, and then %q", now, again)
			}
		}
	})
}
