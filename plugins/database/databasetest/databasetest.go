// Package databasetest provides helpers for tests of database resources.
package databasetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// A DB is a resource under test.
type DB struct {
	T    *testing.T
	Live domarkx.Resource
}

// Open opens a resource; an env without a config gets {}. It is closed at the end of the test.
func Open(t *testing.T, p domarkx.Plugin, env domarkx.Env) *DB {
	t.Helper()
	if env.Config.Kind() == jsonvalue.Null {
		env.Config = jsonvalue.ObjectValue()
	}
	if env.Warn == nil {
		env.Warn = func(string) {}
	}
	env.Workspace, env.Resource = "w", p.Type()
	live, err := p.Open(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := live.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &DB{t, live}
}

// Try calls a tool with SQL and args as JSON, "" for none. It returns the result as JSON, or
// "CODE: MESSAGE" of the error.
func (d *DB) Try(tool, sql, args string) string {
	d.T.Helper()
	arguments := jsonvalue.ObjectValue()
	if sql != "" {
		arguments = arguments.With("sql", jsonvalue.StringValue(sql))
	}
	if args != "" {
		arguments = arguments.With("args", jsonvalue.MustParse(args))
	}
	r, err := d.Live.Execute(context.Background(), domarkx.Call{Tool: tool, Arguments: arguments})
	if err != nil {
		var e *domarkx.ToolError
		if !errors.As(err, &e) {
			d.T.Errorf("%s: %q: %v is not a ToolError", tool, sql, err)
		}
		return err.Error()
	}
	if r.Attachment != nil {
		defer r.Attachment.Close()
		n, err := io.Copy(io.Discard, r.Attachment)
		if err != nil {
			d.T.Error(err)
		}
		return fmt.Sprintf("%s… with %d bytes attached", r.Value.JSON()[:100], n)
	}
	return r.Value.JSON()
}

// Query returns the rows of a query as JSON.
func (d *DB) Query(sql string) string {
	d.T.Helper()
	got := d.Try("query", sql, "")
	_, rows, ok := strings.Cut(got, `"rows":`)
	if !ok {
		d.T.Fatalf("%s: %s", sql, got)
	}
	return strings.TrimSuffix(rows, "}")
}

// Execute runs statements, which must succeed.
func (d *DB) Execute(sql string) {
	d.T.Helper()
	if got := d.Try("execute", sql, ""); !strings.HasPrefix(got, "{") {
		d.T.Fatalf("%.200s: %s", sql, got)
	}
}

// check ends the test if there is an error.
func (d *DB) check(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// Commit commits a version.
func (d *DB) Commit(m *plugintest.Memory) string {
	d.T.Helper()
	w, err := m.Begin(context.Background(), "")
	d.check(err)
	d.check(d.Live.Commit(context.Background(), w))
	version, err := w.Finish(context.Background())
	d.check(err)
	return version
}

// Load loads a version.
func (d *DB) Load(m *plugintest.Memory, version string) {
	d.T.Helper()
	d.check(d.Live.Load(context.Background(), m, version))
}

// Changed returns whether the resource reports a change.
func (d *DB) Changed() bool {
	d.T.Helper()
	changed, err := d.Live.Changed(context.Background())
	d.check(err)
	return changed
}

// Files returns the contents of the files of a version, by path.
func Files(t *testing.T, m *plugintest.Memory, version string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := domarkx.WalkVersion(context.Background(), m, version, func(path string, f domarkx.File) error {
		if f.Type != domarkx.Regular {
			return nil
		}
		data, err := domarkx.ReadContent(context.Background(), m, f.ID, 1<<40)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
