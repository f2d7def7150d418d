package blame_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A desk is a repository whose files are blamed.
type desk struct {
	*enginetest.Clone
	m *blame.Manager
}

func newDesk(t *testing.T) *desk {
	c := enginetest.New(t)
	return &desk{c, blame.New(c.Store, c.Store.Git(), c.Settings)}
}

// files returns one file that has these words as lines.
func files(path, words string) map[string]string { return map[string]string{path: lines(words)} }

func lines(words string) string {
	if words == "" {
		return ""
	}
	return strings.ReplaceAll(words, " ", "\n") + "\n"
}

// call stores a call of a session that leaves the file with these words as lines, and the version after it.
func (d *desk) call(session, path, words string) domarkx.Entry {
	d.T.Helper()
	e := d.Linked(session, "", enginetest.Calling("m", "write_file", fmt.Sprintf(`{"path": %q}`, path)))
	d.Committed(session, enginetest.WorkTree, files(path, words), domarkx.VersionCommit{
		Operation: "call", Call: &domarkx.CallRecord{Session: session, Message: e.ID, Resource: "files", Tool: "write_file"}})
	return e
}

// change stores a version that a person left.
func (d *desk) change(workspace, path, words string) domarkx.Version {
	d.T.Helper()
	return d.Committed(workspace, enginetest.WorkTree, files(path, words), domarkx.VersionCommit{Operation: "change"})
}

// write writes the file of the work tree.
func (d *desk) write(path, words string) { d.T.Helper(); d.WriteFile(path, lines(words)) }

// clear removes the sessions and workspaces, for the next case of a table.
func (d *desk) clear() {
	d.T.Helper()
	ctx := d.T.Context()
	sessions, err := d.List(ctx)
	if err != nil {
		d.T.Fatal(err)
	}
	workspaces, err := d.Store.Workspaces(ctx)
	if err != nil {
		d.T.Fatal(err)
	}
	err = d.Store.Update(ctx, "clear", func(tx *gitstore.Tx) error {
		var failed []error
		for _, s := range sessions {
			failed = append(failed, tx.ToTrash(ctx, s.Name))
		}
		for _, w := range workspaces {
			failed = append(failed, tx.WorkspaceToTrash(ctx, w.Workspace))
		}
		return errors.Join(failed...)
	})
	if err != nil {
		d.T.Fatal(err)
	}
}

// git runs Git in the work tree as another person.
func (d *desk) git(args ...string) string {
	d.T.Helper()
	out, err := exec.CommandContext(context.Background(), "git", append([]string{"-C", d.Dir, "-c", "user.name=Bo", "-c", "user.email=bo@example.org", "-c", "protocol.file.allow=always"}, args...)...).CombinedOutput()
	if err != nil {
		d.T.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// wrote checks who wrote the lines of a file. want has a word for each line: "line", "line=session#message" or
// "line=?".
func (d *desk) wrote(path, want string) []blame.Line {
	d.T.Helper()
	found, err := d.m.File(d.T.Context(), path, 0, 0)
	if err != nil {
		d.T.Fatal(err)
	}
	var got []string
	for i, line := range found {
		if line.Number != i+1 {
			d.T.Errorf("line %d has the number %d", i+1, line.Number)
		}
		got = append(got, line.Text+author(line.Origin))
	}
	if words := strings.Fields(want); !slices.Equal(got, words) {
		d.T.Errorf("%s:\ngot  %s\nwant %s", path, got, words)
	}
	return found
}

func author(o blame.Origin) string {
	switch o.Source {
	case blame.Session:
		return fmt.Sprintf("=%s#%d", o.Session, o.Message)
	case blame.Unclear:
		return "=?"
	}
	return ""
}

func (d *desk) path(elements ...string) string {
	return filepath.Join(append([]string{d.Dir}, elements...)...)
}
