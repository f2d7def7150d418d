package refname_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

func TestMapName(t *testing.T) {
	tests := []struct{ name, want string }{
		{"plan", "plan"},
		{"notes/2024/plan", "notes/2024/plan"},
		{"über/日本語/🙂", "über/日本語/🙂"},
		{"u\u0308ber", "über"}, // NFD
		{"👩\u200d💻", "👩\u200d💻"},
		{"my plan", "my-plan"},
		{"a@b#c~d^e:f", "a-b-c-d-e-f"},
		{`a\b?c*d[e`, "a-b-c-d-e"},
		{"tab\tline\nend\x7f", "tab-line-end-"},
		{"no\u00a0break\u2028", "no-break-"},
		{"-x", "x"},
		{".hidden/.git/config", "hidden/git/config"},
		{"../../etc/passwd", "etc/passwd"},
		{"a..b", "a.-b"},
		{"a...b", "a.-.b"},
		{"end.", "end-"},
		{"x.md", "x-md"},
		{"x.md.md", "x.md-md"},
		{"ref.lock/y", "ref-lock/y"},
		{"x.MD", "x.MD"},
		{"//a///b/", "a/b"},
		{"", "session"},
		{"///", "session"},
		{"...", "session"},
		{"@", "session"},
		{"bad\xff\xfeutf8", "bad-utf8"},
		{strings.Repeat("x", 201), strings.Repeat("x", 200)},
		{strings.Repeat("é", 101), strings.Repeat("é", 100)},
		{strings.Repeat("y", 197) + "éé", strings.Repeat("y", 197) + "é"},
		{strings.Repeat("x", 197) + ".mdx", strings.Repeat("x", 197) + "-md"},
		{strings.Repeat(strings.Repeat("a", 199)+"/", 4) + strings.Repeat("a", 200), strings.Repeat(strings.Repeat("a", 199)+"/", 4) + strings.Repeat("a", 200)},
		{strings.Repeat(strings.Repeat("a", 199)+"/", 6), strings.TrimSuffix(strings.Repeat(strings.Repeat("a", 199)+"/", 5), "/")},
	}
	for _, tt := range tests {
		got := refname.Map(tt.name)
		if got != tt.want {
			t.Errorf("MapName(%q) = %q, want %q", tt.name, got, tt.want)
		}
		err := refname.Sessions.Check(tt.name)
		if ok := tt.name == tt.want; ok != (err == nil) {
			t.Errorf("CheckName(%q) = %v", tt.name, err)
		}
		if err != nil && (!errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("CheckName(%q) = %v, want the hint %q", tt.name, err, tt.want)
		}
	}
}

func TestMappedNamesAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[-./@{}\\ a-c.md.lock~é]{0,40}`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "name")
		mapped := refname.Map(name)
		if err := refname.Sessions.Check(mapped); err != nil {
			t.Fatalf("MapName(%q) = %q: %v", name, mapped, err)
		}
		if !utf8.ValidString(mapped) {
			t.Fatalf("MapName(%q) = %q is not UTF-8", name, mapped)
		}
	})
}

func TestGitAcceptsNames(t *testing.T) {
	names := []string{"plan", "a/b/c", "über/日本語/🙂", "a.-b", "x{y}", "100%", "a,b;c!d", "'quoted'", "$(x)", "HEAD", "x.MD", "a-"}
	for _, name := range names {
		if err := refname.Sessions.Check(name); err != nil {
			t.Error(err)
		}
		if err := exec.Command("git", "check-ref-format", refname.Sessions.Ref(name)).Run(); err != nil {
			t.Errorf("git check-ref-format %q: %v", name, err)
		}
	}
}

func TestClash(t *testing.T) {
	others := []string{"plan", "work/a", "Work2/b", "straße"}
	tests := []struct{ name, other string }{ // other is the conflicting session
		{"new", ""},
		{"work/b", ""},
		{"plans", ""},
		{"plan2/x", ""},
		{"plan", "plan"},
		{"Plan", "plan"},
		{"plan/x", "plan"},
		{"PLAN/x", "plan"},
		{"work", "work/a"},
		{"WORK", "work/a"},
		{"Work/c", "work/a"},
		{"work2/c", "Work2/b"},
		{"STRASSE", "straße"},
	}
	for _, tt := range tests {
		err := clash(tt.name, others...)
		if tt.other == "" {
			if err != nil {
				t.Errorf("%q: %v", tt.name, err)
			}
			continue
		}
		if !errors.Is(err, domarkx.ErrExists) || !strings.Contains(err.Error(), `"`+tt.other+`"`) {
			t.Errorf("%q: %v, want one naming %q", tt.name, err, tt.other)
		}
	}
}

func TestTrashRef(t *testing.T) {
	name, at, err := refname.Sessions.ParseTrash("refs/domarkx-trash/sessions/a/b@20240102T030405Z")
	if name != "a/b" || at.Unix() != 1704164645 || err != nil {
		t.Errorf("%q, %v, %v", name, at, err)
	}
	for _, ref := range []string{"refs/domarkx-trash/sessions/a", "refs/domarkx-trash/sessions/a@now"} {
		if _, _, err := refname.Sessions.ParseTrash(ref); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%q: %v, want corrupt", ref, err)
		}
	}
}

// clash returns the error for a new name besides others.
func clash(name string, others ...string) error {
	x := refname.NewIndex(refname.Sessions)
	for _, other := range others {
		x.Add(other)
	}
	return x.Check(name)
}
