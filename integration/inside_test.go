package integration_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// An inside is a repository that the test reads in its own process, which takes a tenth of the time of a program. Tests of many
// rounds look at it so; a program reads at least the first and the last state.
type inside struct {
	tb       testing.TB
	store    *gitstore.Store
	sessions *engine.SessionManager
}

// inside opens the repository, as each command does, and closes it after look.
func (s *site) inside(look func(in inside)) {
	s.tb.Helper()
	git, err := gitcmd.Discover(s.tb.Context(), s.dir, s.env)
	if err != nil {
		s.tb.Fatal(err)
	}
	store, err := gitstore.Open(s.tb.Context(), git)
	if err != nil {
		s.tb.Fatal(err)
	}
	look(inside{s.tb, store, engine.New(store, nil, local.Environment{}, nil)})
	if err := store.Close(); err != nil {
		s.tb.Error(err)
	}
}

// show returns what git domarkx show prints of a session, or "" if the session does not exist.
func (in inside) show(name string) string {
	in.tb.Helper()
	var b strings.Builder
	err := in.sessions.Show(in.tb.Context(), engine.Revision{Name: name, Message: -1}, engine.Markdown, &b)
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		in.tb.Fatal(err)
	}
	return b.String()
}

// sound fails the test if git domarkx fsck would find an error.
func (in inside) sound(context ...any) {
	in.tb.Helper()
	found, err := in.store.Fsck(in.tb.Context(), nil)
	if err != nil {
		in.tb.Fatalf("%v: %v", context, err)
	}
	list, err := in.store.List(in.tb.Context())
	if err != nil {
		in.tb.Fatalf("%v: %v", context, err)
	}
	for _, info := range list {
		damaged, err := in.sessions.CheckSnapshot(in.tb.Context(), info)
		if err != nil {
			in.tb.Fatalf("%v: %v", context, err)
		}
		found = append(found, damaged...)
	}
	if slices.ContainsFunc(found, func(f engine.Finding) bool { return f.Severity == "error" }) {
		in.tb.Fatalf("%v: fsck finds %v", context, found)
	}
}

// shown returns the text of each of these sessions.
func (s *site) shown(names ...string) []string {
	s.tb.Helper()
	var texts []string
	s.inside(func(in inside) {
		for _, name := range names {
			texts = append(texts, in.show(name))
		}
	})
	return texts
}

// intact is sound with one program instead of two.
func (s *site) intact(context ...any) {
	s.tb.Helper()
	o := s.try("", "git", "fsck", "--strict", "--no-dangling", "--no-progress")
	for line := range strings.Lines(o.out + o.err) {
		if o.code != 0 || !strings.HasPrefix(line, "notice: ") {
			s.tb.Fatalf("%v: %s", context, o)
		}
	}
	s.inside(func(in inside) { in.sound(context...) })
}

// tips returns a line for each session, with its newest snapshot.
func (s *site) tips() string {
	s.tb.Helper()
	return s.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/domarkx/sessions/")
}

// copied returns a copy of a directory, such as a repository whose making takes long.
func (s *site) copied() *site {
	s.tb.Helper()
	other := newSite(s.tb)
	if err := os.CopyFS(other.dir, os.DirFS(s.dir)); err != nil {
		s.tb.Fatal(err)
	}
	return other
}
