package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// resource returns a resource whose directory has one file with that content.
func resource(tb testing.TB, dir, id, content string) domarkx.ResourceVersion {
	tb.Helper()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = dir, testEnv(), strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			tb.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	tree := run("100644 blob "+run(content, "hash-object", "-w", "--stdin")+"\tfile\n", "mktree")
	config := jsonvalue.ObjectValue(jsonvalue.Member{Name: "type", Value: jsonvalue.StringValue("filesystem")},
		jsonvalue.Member{Name: "depth", Value: jsonvalue.NumberValue("1.50e1")})
	return domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: id, Type: "filesystem", Config: config}, Version: tree}
}

func versionCommit(resources []domarkx.ResourceVersion, parents ...string) domarkx.VersionCommit {
	who := domarkx.Signature{Name: "A U Thor", Email: "author@example.com", When: testTime}
	return domarkx.VersionCommit{Parents: parents, Resources: resources, Operation: "call", Subject: "call write_file", Author: who, Committer: who}
}

// version creates the newest version of a workspace with resources given by id and content.
func version(tb testing.TB, s *gitstore.Store, dir, name string, contents map[string]string) domarkx.Version {
	tb.Helper()
	var resources []domarkx.ResourceVersion
	for _, id := range slices.Sorted(maps.Keys(contents)) {
		resources = append(resources, resource(tb, dir, id, contents[id]))
	}
	var v domarkx.Version
	update(tb, s, func(tx *gitstore.Tx) error {
		ctx := context.Background()
		var parents []string
		if tip, err := tx.WorkspaceTip(ctx, name); err == nil {
			parents = []string{tip.ID}
		}
		var err error
		if v, err = tx.CommitVersion(ctx, name, versionCommit(resources, parents...)); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, name, v.ID)
	})
	return v
}

func TestGoldenVersion(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	call := &domarkx.CallRecord{Session: "plan\nDomarkx-Number: 99", Message: mustID(t, id1), Index: 2, Resource: "code", Tool: "write_file"}
	first := version(t, s, dir, "plan", map[string]string{"code": "one"})
	var v domarkx.Version
	update(t, s, func(tx *gitstore.Tx) (err error) {
		c := versionCommit([]domarkx.ResourceVersion{resource(t, dir, "code", "two"), resource(t, dir, "A.b_c-1", "x")}, first.ID)
		c.Call, c.Subject = call, "call write_file\nDomarkx-Number: 7"
		if v, err = tx.CommitVersion(ctx, "plan", c); err != nil {
			return err
		}
		if again, err := tx.Version(ctx, v.ID); err != nil || again.Number != 2 || len(again.Resources) != 2 {
			t.Errorf("within the update: %+v, %v", again, err)
		}
		return tx.SetWorkspace(ctx, "plan", v.ID)
	})
	golden(t, "version.golden", git(t, dir, "cat-file", "commit", "refs/domarkx/workspaces/plan")+"\n\n"+
		git(t, dir, "ls-tree", "-r", "-t", v.ID)+"\n\n"+git(t, dir, "cat-file", "blob", v.ID+":workspace.json")+"\n")
	git(t, dir, "fsck", "--strict")
	if out := git(t, dir, "log", "--first-parent", "--format=%s|%(trailers:key=Domarkx-Number,valueonly,separator=)", "refs/domarkx/workspaces/plan"); out != "call write_file Domarkx-Number: 7|2\ncall write_file|1" {
		t.Errorf("git log says %q", out)
	}
	tip, err := s.WorkspaceTip(ctx, "plan")
	if diff := cmp.Diff(v, tip, cmp.AllowUnexported(jsonvalue.Value{}), cmp.Comparer(jsonvalue.Value.Equal)); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	if tip.Workspace != "plan" || tip.Number != 2 || *tip.Call != *call || tip.Parents[0] != first.ID || tip.Resources[0].Config.JSON() != `{"type":"filesystem","depth":1.50e1}` {
		t.Errorf("%+v", tip)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
}

func TestWorkspaceRefs(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	one := version(t, s, dir, "plan", map[string]string{"code": "1"})
	two := version(t, s, dir, "plan", map[string]string{"code": "2"})
	other := version(t, s, dir, "other", map[string]string{"code": "3"})
	tips, err := s.Workspaces(ctx)
	if err != nil || len(tips) != 2 || tips[0].Workspace != "other" || tips[1].ID != two.ID || tips[1].Resources != nil || tips[1].Parents[0] != one.ID {
		t.Errorf("%+v, %v", tips, err)
	}
	var ids []string
	for v, err := range s.Versions(ctx, two.ID) {
		if err != nil || v.Resources != nil {
			t.Fatalf("%+v, %v", v, err)
		}
		ids = append(ids, v.ID)
	}
	if !slices.Equal(ids, []string{two.ID, one.ID}) {
		t.Errorf("versions %v", ids)
	}
	if v, err := s.FindVersion(ctx, two.ID, one.ID[:12]); err != nil || v.ID != one.ID || v.Resources == nil {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := s.FindVersion(ctx, two.ID, other.ID[:12]); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a version of another workspace: %v", err)
	}
	if _, err := s.FindVersion(ctx, two.ID, "xyz"); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("no beginning of an id: %v", err)
	}
	if _, err := s.WorkspaceTip(ctx, "pln"); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), `"plan"`) {
		t.Error(err)
	}
	set := func(name, id string) error {
		return s.Update(ctx, "test", func(tx *gitstore.Tx) error { return tx.SetWorkspace(ctx, name, id) })
	}
	session := save(t, s, "Plan", conversation(1)) // does not clash with workspaces
	for name, tt := range map[string]struct {
		name, id string
		want     error
	}{
		"back":               {"plan", one.ID, domarkx.ErrConflict},
		"aside":              {"plan", other.ID, domarkx.ErrConflict},
		"clash by case":      {"PLAN", one.ID, domarkx.ErrExists},
		"clash as directory": {"plan/x", one.ID, domarkx.ErrExists},
		"bad name":           {"a b", one.ID, domarkx.ErrInvalid},
		"session":            {"new", session.ID, domarkx.ErrCorrupt},
		"nothing":            {"new", strings.Repeat("1", 40), domarkx.ErrNotFound},
	} {
		if err := set(tt.name, tt.id); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		} else if errors.Is(err, domarkx.ErrExists) && !strings.Contains(err.Error(), "workspace") {
			t.Errorf("%s: %v", name, err)
		}
	}
	update(t, s, func(tx *gitstore.Tx) error { return tx.RenameWorkspace(ctx, "plan", "PLAN") })
	if tip, err := s.WorkspaceTip(ctx, "PLAN"); err != nil || tip.ID != two.ID {
		t.Errorf("%+v, %v", tip, err)
	}
	if err := set("PLAN/x", one.ID); !errors.Is(err, domarkx.ErrExists) {
		t.Error(err)
	}
	if err := set("fork/of/plan", one.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.Info(ctx, one.ID); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a version as a snapshot: %v", err)
	}
	if _, err := s.Version(ctx, session.ID); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a snapshot as a version: %v", err)
	}
}

func TestVersionsThatCannotBe(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	sound := resource(t, dir, "code", "x")
	deep := jsonvalue.ObjectValue()
	for range 10_000 {
		deep = jsonvalue.ObjectValue(jsonvalue.Member{Name: "a", Value: deep})
	}
	for name, change := range map[string]func(r *domarkx.ResourceVersion){
		"no id":       func(r *domarkx.ResourceVersion) { r.ID = "" },
		"directory":   func(r *domarkx.ResourceVersion) { r.ID = "a/b" },
		"dots":        func(r *domarkx.ResourceVersion) { r.ID = ".." },
		"option":      func(r *domarkx.ResourceVersion) { r.ID = "-x" },
		"manifest":    func(r *domarkx.ResourceVersion) { r.ID = "workspace.json" },
		"umlaut":      func(r *domarkx.ResourceVersion) { r.ID = "ä" },
		"long":        func(r *domarkx.ResourceVersion) { r.ID = strings.Repeat("x", 101) },
		"no type":     func(r *domarkx.ResourceVersion) { r.Type = "" },
		"no config":   func(r *domarkx.ResourceVersion) { r.Config = jsonvalue.Value{} },
		"no version":  func(r *domarkx.ResourceVersion) { r.Version = "HEAD" },
		"deep config": func(r *domarkx.ResourceVersion) { r.Config = deep },
		"large config": func(r *domarkx.ResourceVersion) {
			r.Config = r.Config.With("x", jsonvalue.StringValue(strings.Repeat("x", 16<<20)))
		},
	} {
		bad := sound
		change(&bad)
		err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
			_, err := tx.CommitVersion(ctx, "w", versionCommit([]domarkx.ResourceVersion{bad}))
			return err
		})
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		_, err := tx.CommitVersion(ctx, "w", versionCommit([]domarkx.ResourceVersion{sound, sound}))
		return err
	})
	if !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("one id twice: %v", err)
	}
	session := save(t, s, "s", conversation(1))
	err = s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		_, err := tx.CommitVersion(ctx, "w", versionCommit([]domarkx.ResourceVersion{sound}, session.ID))
		return err
	})
	if !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a snapshot as a parent: %v", err)
	}
}

func TestHostileVersions(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	sound := version(t, s, dir, "sound", map[string]string{"code": "x"})
	manifest := git(t, dir, "cat-file", "blob", sound.ID+":workspace.json") + "\n"
	edit := func(old, new string) map[string]string {
		if !strings.Contains(manifest, old) {
			t.Fatalf("no %q in the manifest", old)
		}
		return map[string]string{"workspace.json": strings.Replace(manifest, old, new, 1)}
	}
	for name, tt := range map[string]struct {
		files    map[string]string
		old, new string
		want     error
	}{
		"no manifest":       {files: map[string]string{"workspace.json": ""}},
		"no JSON":           {files: map[string]string{"workspace.json": "{"}},
		"no format":         {files: edit(`"format": 1,`, "")},
		"later manifest":    {files: edit(`"format": 1`, `"format": 2`), want: domarkx.ErrUnsupported},
		"later commit":      {old: "Format: 1", new: "Format: 2", want: domarkx.ErrUnsupported},
		"other spelling":    {files: edit(`"format": 1`, `"format":  1`)},
		"further member":    {files: edit(`"format": 1`, `"format": 1, "x": 2`)},
		"id that leads out": {files: edit(`"code"`, `"../code"`)},
		"id of another":     {files: edit(`"code"`, `"other"`)},
		"other version":     {files: edit(sound.Resources[0].Version, strings.Repeat("1", 40))},
		"no resources":      {files: edit(`"resources"`, `"resource"`)},
		"file beside":       {files: map[string]string{"README": "x"}},
		"directory beside":  {files: map[string]string{"other/file": "x"}},
		"changed content":   {files: map[string]string{"code/file": "y"}},
		"number":            {old: "Number: 1", new: "Number: x"},
		"resources":         {old: "Resources: 1", new: "Resources: 2"},
		"operation":         {old: `"call"`, new: `call`},
		"call":              {old: "Domarkx-Operation", new: "Domarkx-Call: {}\nDomarkx-Operation"},
		"trailer twice":     {old: "Domarkx-Operation", new: "Domarkx-Number: 1\nDomarkx-Operation"},
	} {
		t.Run(name, func(t *testing.T) {
			want := tt.want
			if want == nil {
				want = domarkx.ErrCorrupt
			}
			bad := rewritten(t, dir, sound.ID, tt.files, tt.old, tt.new)
			if _, err := s.Version(ctx, bad); !errors.Is(err, want) {
				t.Errorf("Version: %v, want %v", err, want)
			}
			git(t, dir, "update-ref", "refs/domarkx/workspaces/bad", bad)
			found, err := s.Fsck(ctx, nil)
			if err != nil || len(found) != 1 || found[0].Severity != "error" || found[0].Where != "bad@"+bad {
				t.Errorf("Fsck: %+v, %v", found, err)
			}
		})
	}
	git(t, dir, "update-ref", "refs/domarkx/workspaces/bad", strings.Repeat("0", 40))
	further := rewritten(t, dir, sound.ID, nil, "Domarkx-Operation", "Domarkx-Later: 1\nDomarkx-Operation")
	if v, err := s.Version(ctx, further); err != nil || v.Number != 1 {
		t.Errorf("with a trailer that came later: %+v, %v", v, err)
	}
	git(t, dir, "update-ref", "refs/domarkx/workspaces/Sound", sound.ID)
	git(t, dir, "update-ref", "refs/domarkx-trash/workspaces/x", sound.ID)
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 2 || found[0].Severity != "warning" {
		t.Errorf("Fsck of names: %+v, %v", found, err)
	}
}

func TestWorkspaceTrash(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	both := func(tx *gitstore.Tx) error {
		return errors.Join(tx.ToTrash(ctx, "plan"), tx.WorkspaceToTrash(ctx, "plan"))
	}
	save(t, s, "plan", conversation(1))
	one := version(t, s, dir, "plan", map[string]string{"code": "1"})
	update(t, s, both)
	if tips, err := s.Workspaces(ctx); err != nil || len(tips) != 0 {
		t.Errorf("%v, %v", tips, err)
	}
	// Another pair, and a session without a workspace.
	save(t, s, "plan", conversation(2))
	two := version(t, s, dir, "plan", map[string]string{"code": "2"})
	update(t, s, both)
	save(t, s, "plan", conversation(3))
	update(t, s, func(tx *gitstore.Tx) error { return tx.ToTrash(ctx, "plan") })
	restore := func(messages int, version string) {
		t.Helper()
		update(t, s, func(tx *gitstore.Tx) error {
			info, err := tx.FromTrash(ctx, "plan")
			if err != nil || info.Messages != messages {
				t.Errorf("%+v, %v, want %d messages", info, err, messages)
			}
			v, err := tx.WorkspaceFromTrash(ctx, "plan")
			if version == "" {
				if !errors.Is(err, domarkx.ErrNotFound) {
					t.Errorf("%+v, %v, want none", v, err)
				}
				return nil
			}
			if err != nil || v.ID != version || v.Workspace != "plan" {
				t.Errorf("%+v, %v, want %s", v, err, version)
			}
			return nil
		})
	}
	drop := func() { // delete it from the trash
		git(t, dir, "update-ref", "-d", "refs/domarkx/sessions/plan")
		git(t, dir, "update-ref", "-d", "refs/domarkx/workspaces/plan")
	}
	restore(3, "")
	drop()
	restore(2, two.ID)
	drop()
	restore(1, one.ID)
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { _, err := tx.WorkspaceFromTrash(ctx, "plan"); return err })
	if !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("nothing left: %v", err)
	}
	update(t, s, func(tx *gitstore.Tx) error { return tx.WorkspaceToTrash(ctx, "plan") })
	if ids, err := s.Trashed(refname.Workspaces, "plan"); err != nil || !slices.Equal(ids, []string{one.ID}) {
		t.Errorf("%v, %v", ids, err)
	}
	update(t, s, func(tx *gitstore.Tx) error { _, err := tx.WorkspaceFromTrash(ctx, "plan"); return err })
	git(t, dir, "update-ref", "refs/domarkx-trash/workspaces/old@20010101T000000Z", one.ID)
	if found, err := s.GC(ctx); err != nil || len(found) != 1 || !strings.Contains(found[0].What, "workspace old") {
		t.Errorf("gc: %+v, %v", found, err)
	}
	if refs := git(t, dir, "for-each-ref", "--format=%(refname)"); refs != "refs/domarkx/sessions/plan\nrefs/domarkx/workspaces/plan" {
		t.Errorf("refs are\n%s", refs)
	}
}

func TestVersionCache(t *testing.T) {
	versions := []domarkx.Version{
		{ID: strings.Repeat("ab", 20), Number: 3, Date: -5, Subject: "s", Operation: "call", Parents: []string{strings.Repeat("1", 40), strings.Repeat("2", 40)},
			Call: &domarkx.CallRecord{Session: "p", Message: mustID(t, id1), Index: 1, Resource: "r", Tool: "t"}},
		{ID: strings.Repeat("cd", 20), Parents: []string{}},
	}
	state := t.TempDir()
	if err := derived.Workspaces.WriteValue(state, versions); err != nil {
		t.Fatal(err)
	}
	var got []domarkx.Version
	if ok := derived.Workspaces.ReadValue(state, &got); !ok || !cmp.Equal(versions, got) {
		t.Errorf("read %t: %s", ok, cmp.Diff(versions, got))
	}
	s, dir := newStore(t)
	ctx := context.Background()
	v := version(t, s, dir, "w0", map[string]string{"code": "x"})
	update(t, s, func(tx *gitstore.Tx) error {
		for i := range 100 {
			if err := tx.SetWorkspace(ctx, fmt.Sprintf("w%d", i+1), v.ID); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 {
		tips, err := s.Workspaces(ctx)
		if err != nil || len(tips) != 101 || tips[100].Workspace != "w99" || tips[100].ID != v.ID || tips[100].Number != 1 {
			t.Fatalf("%d, %v", len(tips), err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.StateDir(), "workspace-cache")); err != nil {
		t.Error(err)
	}
}

func TestFsckReadsWhatVersionsHold(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	v := version(t, s, dir, "w", map[string]string{"code": "content"})
	blob := git(t, dir, "rev-parse", v.ID+":code/file")
	if err := os.Remove(filepath.Join(dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	found, err := open(t, dir).Fsck(ctx, nil)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].What, `"file"`) {
		t.Errorf("a file that is missing: %+v, %v", found, err)
	}
	// A sidecar without entries.
	v = version(t, s, dir, "other", map[string]string{"code": "other"})
	bad := rewritten(t, dir, v.ID, map[string]string{"code/.domarkx": "x\n"}, "", "")
	tree := git(t, dir, "rev-parse", bad+":code")
	manifest := strings.Replace(git(t, dir, "cat-file", "blob", v.ID+":workspace.json")+"\n", v.Resources[0].Version, tree, 1)
	bad = rewritten(t, dir, bad, map[string]string{"workspace.json": manifest}, "", "")
	git(t, dir, "update-ref", "refs/domarkx/workspaces/other", bad)
	git(t, dir, "update-ref", "-d", "refs/domarkx/workspaces/w")
	found, err = open(t, dir).Fsck(ctx, nil)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].What, `resource "code"`) {
		t.Errorf("a bad sidecar: %+v, %v", found, err)
	}
}
