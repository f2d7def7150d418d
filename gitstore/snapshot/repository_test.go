package snapshot_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

var (
	ctx  = context.Background()
	when = time.Unix(1700000000, 0).UTC()
	who  = domarkx.Signature{Name: "A U Thor", Email: "author@example.com", When: when}
)

// tb is what tests and property tests have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// A repository has no refs: its objects are found by the ids that were returned.
type repository struct {
	db     *odb.Database
	reader snapshot.Reader
	gitDir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	dir := filepath.Join(gittest.Init(t), ".git")
	db, err := odb.Open(dir+"/objects", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return repository{db, snapshot.NewReader(db, filepath.Join(dir, "shallow")), dir}
}

// update stores what f writes.
func (r repository) update(t tb, f func(*snapshot.Builder) error) {
	t.Helper()
	batch := r.db.Begin()
	defer batch.Abort()
	b := snapshot.NewBuilder(r.reader, batch)
	err := f(&b)
	if err == nil {
		err = batch.Sync()
	}
	if err == nil {
		err = batch.Settle()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (r repository) commit(t tb, c domarkx.Commit) (info domarkx.Info) {
	t.Helper()
	r.update(t, func(b *snapshot.Builder) (err error) {
		info, err = b.Commit(ctx, c)
		return err
	})
	return info
}

func (r repository) version(t tb, c domarkx.VersionCommit) (v domarkx.Version) {
	t.Helper()
	r.update(t, func(b *snapshot.Builder) (err error) {
		v, err = b.CommitVersion(ctx, "w", c)
		return err
	})
	return v
}

// objects stores objects that no snapshot or version writes.
func (r repository) objects(t tb, f func(*object.Writer) (odb.ID, error)) odb.ID {
	t.Helper()
	batch := r.db.Begin()
	defer batch.Abort()
	id, err := f(object.NewWriter(object.NewReader(r.db), batch))
	if err == nil {
		err = batch.Sync()
	}
	if err == nil {
		err = batch.Settle()
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A directory is a tree to store: strings are files, directories are trees, links are symbolic links.
type (
	directory map[string]any
	link      string
)

// tree stores a directory and returns its id.
func (r repository) tree(t tb, d directory) odb.ID {
	t.Helper()
	var write func(w *object.Writer, d directory) (odb.ID, error)
	write = func(w *object.Writer, d directory) (odb.ID, error) {
		var entries []odb.TreeEntry
		for name, content := range d {
			e, err := odb.TreeEntry{Name: name, Mode: odb.ModeFile}, error(nil)
			switch content := content.(type) {
			case string:
				e.ID, err = w.Write(odb.Blob, []byte(content))
			case link:
				e.Mode = odb.ModeSymlink
				e.ID, err = w.Write(odb.Blob, []byte(content))
			case directory:
				e.Mode = odb.ModeTree
				e.ID, err = write(w, content)
			case odb.ID:
				e.Mode = odb.ModeTree
				e.ID = content
			}
			if err != nil {
				return odb.ID{}, err
			}
			entries = append(entries, e)
		}
		return w.WriteTree(entries)
	}
	return r.objects(t, func(w *object.Writer) (odb.ID, error) { return write(w, d) })
}

func resource(id string, version odb.ID) domarkx.ResourceVersion {
	config := jsonvalue.ObjectValue(jsonvalue.Member{Name: "type", Value: jsonvalue.StringValue("filesystem")})
	return domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: id, Type: "filesystem", Config: config}, Version: version.String()}
}

func versionOf(resources []domarkx.ResourceVersion, parents ...string) domarkx.VersionCommit {
	return domarkx.VersionCommit{Parents: parents, Resources: resources, Operation: "call", Subject: "call write_file", Author: who, Committer: who}
}

func commitOf(state *domarkx.State, parents ...string) domarkx.Commit {
	return domarkx.Commit{Parents: parents, State: state, Operation: "test", Subject: "test", Bytes: 7, Preview: "p", Author: who, Committer: who}
}

func messageJSON(role domarkx.Role, text string) []byte {
	m := domarkx.Message{Role: role, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}}
	return append(m.Value().AppendJSON(nil, "", "  "), '\n')
}

// conversation returns a state of n messages; texts replace those of some.
func conversation(n int, texts map[int]string) *domarkx.State {
	state := &domarkx.State{Headers: []domarkx.HeaderEntry{{JSON: domarkx.Blob{Data: append(domarkx.NewHeader().Value().AppendJSON(nil, "", "  "), '\n')}}}}
	var after domarkx.ID
	for k := range n {
		text, role := fmt.Sprintf("message %d", k), []domarkx.Role{domarkx.User, domarkx.Assistant}[k%2]
		if t, ok := texts[k]; ok {
			text = t
		}
		e := domarkx.Entry{ID: domarkx.DeriveID(0, fmt.Append(nil, k)), After: after, Role: role, Date: when.Unix() + int64(k),
			JSON:   domarkx.Blob{Data: messageJSON(role, text)},
			Layout: domarkx.Layout{Digest: [32]byte{byte(k), byte(k >> 8), byte(k >> 16), 1}, Size: int64(len(text))}}
		after = e.ID
		state.Thread.Live = append(state.Thread.Live, e)
	}
	return state
}
