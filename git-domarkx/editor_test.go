package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditedFile(t *testing.T) {
	later := errors.New("the store is full")
	for name, test := range map[string]struct {
		editor  string
		outcome error // error of the step after the editor
		kept    bool  // whether the text is stored elsewhere
		want    string
		err     string // substring of the error
		left    bool   // whether the file still exists
	}{
		"changed":                {`printf new >`, nil, false, "new", "", false},
		"with blanks":            {`f() { printf 'a  b' >"$1"; }; f`, nil, false, "a  b", "", false},
		"unchanged":              {`true`, later, false, "old", "the store is full", false},
		"what comes after fails": {`printf new >`, later, false, "new", "the text is in", true},
		"kept as a draft":        {`printf new >`, later, true, "new", "the store is full", false},
		"editor fails":           {`printf half >"$1"; false`, nil, false, "", "ended with", true},
		"editor removes it":      {`rm`, nil, false, "", "removed the file; the session is unchanged", false},
		"editor does nothing":    {`false`, nil, false, "", "the session is unchanged", false},
	} {
		t.Run(name, func(t *testing.T) {
			repository(t)
			t.Setenv("GIT_EDITOR", test.editor)
			d := &editedFile{inv: in(t, nil), name: "a/talk"}
			got, err := d.edit([]byte("old"))
			if string(got) != test.want {
				t.Errorf("the editor gave %q, expected %q", got, test.want)
			}
			if err == nil {
				err = test.outcome
			}
			err = d.clear(err, test.kept)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, expected %q", err, test.err)
			}
			if filepath.Base(d.path) != "talk.md" {
				t.Errorf("the editor saw %q, expected a Markdown file of the session's name", d.path)
			}
			if _, err := os.Stat(d.path); (err == nil) != test.left {
				t.Errorf("the file is left: %t, expected %t", err == nil, test.left)
			}
		})
	}
}

// in returns an invocation with the given environment.
func in(t *testing.T, env map[string]string) *invocation {
	t.Helper()
	var b bytes.Buffer
	return newInvocation(t.Context(), func(name string) string { return env[name] }, stdio{strings.NewReader(""), &b, &b}, &globals{Quiet: true}, nil)
}
