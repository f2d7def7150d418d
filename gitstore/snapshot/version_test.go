package snapshot_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

func TestHead(t *testing.T) {
	r := newRepository(t)
	v := r.version(t, versionOf([]domarkx.ResourceVersion{resource("code", r.tree(t, directory{"a": "1"}))}))
	info := r.commit(t, commitOf(conversation(2, nil)))
	next := r.commit(t, commitOf(conversation(3, nil), info.ID))
	plain := r.rawCommit(t, r.tree(t, directory{"a": "1"}), "a plain commit\n")
	head, err := r.reader.Head(ctx, next.ID)
	if err != nil || head.IsVersion || head.Info.ID != next.ID || head.Info.Messages != 3 || !slices.Equal(head.Parents, []string{info.ID}) || head.Author.Email != who.Email {
		t.Errorf("snapshot: %+v, %v", head, err)
	}
	head, err = r.reader.Head(ctx, v.ID)
	if err != nil || !head.IsVersion || head.Version.ID != v.ID || head.Version.Number != 1 || len(head.Parents) != 0 {
		t.Errorf("version: %+v, %v", head, err)
	}
	for _, id := range []string{plain.String(), "main", strings.Repeat("1", 40)} {
		if head, err := r.reader.Head(ctx, id); err == nil {
			t.Errorf("%s: %+v", id, head)
		}
	}
}

// TestCommitVersionRefused checks that nothing is stored as a version that could not be read again.
func TestCommitVersionRefused(t *testing.T) {
	r := newRepository(t)
	code := resource("code", r.tree(t, directory{"a": "1"}))
	info := r.commit(t, commitOf(conversation(1, nil)))
	with := func(change func(*domarkx.ResourceVersion)) []domarkx.ResourceVersion {
		c := code
		change(&c)
		return []domarkx.ResourceVersion{c}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		commit domarkx.VersionCommit
		want   error
	}{
		"the same resource twice": {ctx, versionOf([]domarkx.ResourceVersion{code, code}), domarkx.ErrInvalid},
		"a name that leads away":  {ctx, versionOf(with(func(c *domarkx.ResourceVersion) { c.ID = "../x" })), domarkx.ErrInvalid},
		"no name":                 {ctx, versionOf(with(func(c *domarkx.ResourceVersion) { c.ID = "" })), domarkx.ErrInvalid},
		"a huge config": {ctx, versionOf(with(func(c *domarkx.ResourceVersion) {
			c.Config = jsonvalue.ObjectValue(jsonvalue.Member{Name: "x", Value: jsonvalue.StringValue(strings.Repeat("x", codec.MaxManifest))})
		})), domarkx.ErrInvalid},
		"no version":              {ctx, versionOf(with(func(c *domarkx.ResourceVersion) { c.Version = "main" })), nil},
		"a snapshot as a parent":  {ctx, versionOf([]domarkx.ResourceVersion{code}, info.ID), codec.ErrNoVersion},
		"a parent that is absent": {ctx, versionOf([]domarkx.ResourceVersion{code}, strings.Repeat("1", 40)), domarkx.ErrNotFound},
		"after the end":           {ended, versionOf([]domarkx.ResourceVersion{code}), context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			r.update(t, func(b *snapshot.Builder) error {
				v, err := b.CommitVersion(c.ctx, "w", c.commit)
				if err == nil || c.want != nil && !errors.Is(err, c.want) {
					t.Errorf("version %+v, %v", v, err)
				}
				return nil
			})
		})
	}
}

// TestResourceVersions checks that the reader of snapshots reads the files of versions too.
func TestResourceVersions(t *testing.T) {
	r := newRepository(t)
	one := r.tree(t, directory{"a": "1", "dir": directory{"b": "2"}}).String()
	two := r.tree(t, directory{"a": "1", "dir": directory{"b": "3"}}).String()
	content, err := r.reader.FindFile(one, "dir/b")
	if err != nil || content == "" {
		t.Fatalf("dir/b is %q, %v", content, err)
	}
	file, err := r.reader.Content(ctx, content)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if data := make([]byte, 2); true {
		if n, err := file.ReadAt(data, 0); n != 1 || data[0] != '2' {
			t.Errorf("content %q, %v", data[:n], err)
		}
	}
	for path, want := range map[string]bool{"a": true, "dir": true, "dir/b": true, "b": false, "dir/a": false} {
		if got, err := r.reader.HasPath(one, path); err != nil || got != want {
			t.Errorf("has %s: %v, %v", path, got, err)
		}
	}
	var changed []string
	err = r.reader.DiffVersions(ctx, one, two, func(path string, old, new *domarkx.File) error {
		if old != nil && old.Type != domarkx.Directory {
			changed = append(changed, path)
		}
		return nil
	})
	if err != nil || !slices.Equal(changed, []string{"dir/b"}) {
		t.Errorf("changed %q, %v", changed, err)
	}
}

// noDocuments accepts each document.
type noDocuments struct{}

func (noDocuments) Message(domarkx.Entry, domarkx.Message) error        { return nil }
func (noDocuments) Snapshot(context.Context, string, string, int) error { return nil }

// TestVerifyVersions checks the workspace versions that a remote sends.
func TestVerifyVersions(t *testing.T) {
	r := newRepository(t)
	pointer := string(chunked.Pointer{Size: 9, Chunks: odb.Sum(oid.SHA1, odb.Tree, nil)}.Encode())
	code := func(d directory) []domarkx.ResourceVersion {
		return []domarkx.ResourceVersion{resource("code", r.tree(t, d))}
	}
	one := r.version(t, versionOf(code(directory{"a": "1"})))
	two := r.version(t, versionOf(code(directory{"a": "2"}), one.ID))
	// forged returns a version with another message or another tree.
	forged := func(id, old, now string, tree ...odb.ID) string {
		commit, err := odb.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.db.Commit(commit)
		if err != nil {
			t.Fatal(err)
		}
		c, err := codec.DecodeCommit(oid.SHA1, data)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(c.Message), old) {
			t.Fatalf("no %q in %q", old, c.Message)
		}
		return r.rawCommit(t, append(tree, c.Tree)[0], strings.Replace(string(c.Message), old, now, 1), c.Parents...).String()
	}
	for name, c := range map[string]struct {
		ids  []string // parents first
		want string
	}{
		"two versions":              {[]string{one.ID, two.ID}, ""},
		"a version after a known":   {[]string{two.ID}, ""},
		"another number":            {[]string{one.ID, forged(two.ID, "Number: 2", "Number: 7")}, "its number is 7, expected 2"},
		"a first with a number":     {[]string{forged(one.ID, "Number: 1", "Number: 2")}, "its number is 2, expected 1"},
		"a pointer without content": {[]string{r.version(t, versionOf(code(directory{"a": pointer}))).ID}, "pointer without its content"},
		"another count":             {[]string{forged(one.ID, "Resources: 1", "Resources: 2")}, "its commit says 2"},
		"no manifest":               {[]string{forged(one.ID, "", "", r.tree(t, directory{"code": directory{"a": "1"}}))}, "workspace.json"},
		"a resource more":           {[]string{forged(one.ID, "", "", r.tree(t, directory{"workspace.json": "{}\n", "code": directory{"a": "1"}}))}, "workspace.json"},
		"a child of a bad one":      {[]string{forged(one.ID, "Number: 1", "Number: 3"), ""}, "its number is 3, expected 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			for i, id := range c.ids {
				if id == "" {
					id = r.version(t, versionOf(code(directory{"a": "2"}), c.ids[i-1])).ID
				}
				ids = append(ids, id)
			}
			ref := refdb.Ref{Name: refname.Workspaces.Ref("w"), ID: ids[len(ids)-1]}
			bad, err := r.reader.VerifyCommits(ctx, ids, []refdb.Ref{ref}, noDocuments{})
			if err != nil {
				t.Fatal(err)
			}
			if err := bad[ref.Name]; c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestVerifyLinks checks that a message may only be linked to a version that is a parent of a snapshot of its
// session.
func TestVerifyLinks(t *testing.T) {
	r := newRepository(t)
	v := r.version(t, versionOf([]domarkx.ResourceVersion{resource("code", r.tree(t, directory{"a": "1"}))}))
	other := r.version(t, versionOf([]domarkx.ResourceVersion{resource("code", r.tree(t, directory{"a": "2"}))}))
	linked := func(link string, parents ...string) domarkx.Info {
		state := conversation(2, nil)
		state.Thread.Live[1].Link = link
		return r.commit(t, commitOf(state, parents...))
	}
	first := linked(v.ID, v.ID)
	for name, c := range map[string]struct {
		tip domarkx.Info
		ok  bool
	}{
		"a parent":                {first, true},
		"a parent of an ancestor": {linked(v.ID, first.ID), true},
		"no parent":               {linked(v.ID), false},
		"another version":         {linked(other.ID, v.ID), false},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			for info, err := range r.reader.Ancestors(ctx, c.tip.ID) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, info.ID)
			}
			slices.Reverse(ids)
			ref := refdb.Ref{Name: refname.Sessions.Ref("s"), ID: c.tip.ID}
			bad, err := r.reader.VerifyCommits(ctx, ids, []refdb.Ref{ref}, noDocuments{})
			if err != nil {
				t.Fatal(err)
			}
			if err := bad[ref.Name]; (err == nil) != c.ok || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
				t.Errorf("verified with %v", err)
			}
			found, err := r.reader.Linked(ctx, c.tip.ID, []string{v.ID, other.ID, c.tip.ID, "main"})
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]bool{v.ID: true}; name != "no parent" && !maps.Equal(found, want) {
				t.Errorf("linked %v, want %v", found, want)
			}
		})
	}
	if got, err := r.reader.LinkedVersions(ctx, first.ID); err != nil || !slices.Equal(got, []string{v.ID}) {
		t.Errorf("versions %v, %v", got, err)
	}
}
