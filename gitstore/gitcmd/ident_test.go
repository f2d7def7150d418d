package gitcmd_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestIdentities(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Run(t, dir, "config", "alias.x", "!f() {\nGIT_AUTHOR_IDENT=Mallory <m@example.com> 1 +0000\n}")
	g := discover(t, dir)
	author, err := g.Author(t.Context())
	if author.Name != "Ada Author" || author.Email != "ada@example.com" || author.When.Format(time.RFC3339) != "2023-11-14T23:13:20+01:00" || err != nil {
		t.Errorf("Author = %v, %v", author, err)
	}
	committer, err := g.Committer(t.Context())
	if committer.Name != "Carl Committer" || committer.Email != "carl@example.com" || committer.When.Unix() != 1700000001 || err != nil {
		t.Errorf("Committer = %v, %v", committer, err)
	}
}

func TestIdentityWithoutConfig(t *testing.T) {
	dir := gittest.Init(t)
	var env []string
	for _, entry := range gittest.Env() {
		if !strings.HasPrefix(entry, "GIT_AUTHOR_") {
			env = append(env, entry)
		}
	}
	for _, config := range []string{"", "'user.useConfigOnly'='true'", "'user.name'=''"} {
		g, err := gitcmd.Discover(t.Context(), dir, append(env, "GIT_CONFIG_PARAMETERS="+config))
		if err != nil {
			t.Fatal(err)
		}
		who, err := g.Author(t.Context())
		if who.Name == "" || !strings.Contains(who.Email, "@") || strings.Contains(who.Email, "(none)") || err != nil {
			t.Errorf("%s: Author = %v, %v", config, who, err)
		}
		if age := time.Since(who.When); age < 0 || age > time.Minute || who.When.Nanosecond() != 0 {
			t.Errorf("%s: at %v", config, who.When)
		}
	}
	g, err := gitcmd.Discover(t.Context(), dir, append(env, "GIT_CONFIG_PARAMETERS='user.name'='Ümit <x>' 'author.email'='u@example.com'"))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := g.Author(t.Context()); who.Name != "Ümit x" || who.Email != "u@example.com" || err != nil {
		t.Errorf("configured: %v, %v", who, err)
	}
}

// TestIdentityIsThatOfGit: whoever is stated in the environment or the configuration, and however, is
// the one that Git records.
func TestIdentityIsThatOfGit(t *testing.T) {
	dir := gittest.Init(t)
	var env []string
	for _, entry := range gittest.Env() {
		if !strings.HasPrefix(entry, "GIT_AUTHOR_") && !strings.HasPrefix(entry, "GIT_COMMITTER_") {
			env = append(env, entry)
		}
	}
	const name, email = "GIT_CONFIG_PARAMETERS='user.name'=", " 'user.email'="
	for _, extra := range [][]string{
		{name + "'Ada Lovelace'" + email + "'ada@example.com'"},
		{name + "'Ada'" + email + "'a@b' 'author.name'='Grace' 'committer.email'='c@d'"},
		{name + "'Ada'" + email + "'a@b' 'user.name'='Later'"},
		{name + "'Ada'" + email + "'a@b'", "GIT_AUTHOR_NAME=Env", "GIT_COMMITTER_EMAIL=env@example.com"},
		{name + "' Ada. '" + email + "'<a@b>'"},
		{name + "'Åda <x>, Jr.'" + email + "'a b@c'"},
		{name + "'\"Ada\" O\\Neil\tx'" + email + "'a@b;'"},
		{name + "'Ada'" + email + "'a@b'", "EMAIL=other@example.com"},
		{name + "'Ada'" + email + "'a@b'", "GIT_AUTHOR_EMAIL="},
	} {
		g, err := gitcmd.Discover(t.Context(), dir, append(env, extra...))
		if err != nil {
			t.Fatal(err)
		}
		for variable, get := range map[string]func(context.Context) (domarkx.Signature, error){"GIT_AUTHOR_IDENT": g.Author, "GIT_COMMITTER_IDENT": g.Committer} {
			cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "var", variable)
			cmd.Env = append(env, extra...)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%q: %v", extra, err)
			}
			want, _, _ := strings.Cut(string(out), ">")
			if got, err := get(t.Context()); got.Name+" <"+got.Email != want && !strings.HasSuffix(want, "<") || err != nil {
				t.Errorf("%q: %s is %q, %v, want %q", extra, variable, got.Name+" <"+got.Email, err, want)
			}
		}
	}
}

func TestBadDate(t *testing.T) {
	g := discover(t, gittest.Init(t), "GIT_AUTHOR_DATE=nonsense")
	if who, err := g.Author(t.Context()); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("Author = %v, %v, want git's words", who, err)
	}
}

func TestEditorAndPager(t *testing.T) {
	g := discover(t, gittest.Init(t), "GIT_EDITOR=ed -s", "GIT_PAGER=cat")
	if editor, err := g.Editor(t.Context()); editor != "ed -s" || err != nil {
		t.Errorf("Editor = %q, %v", editor, err)
	}
	if pager, err := g.Pager(t.Context()); pager != "cat" || err != nil {
		t.Errorf("Pager = %q, %v", pager, err)
	}
}
