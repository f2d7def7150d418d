package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/schema"
)

// schemas returns the project's own schemas, and documents for each.
func schemas(t testing.TB) map[*schema.Schema][]domarkx.Value {
	t.Helper()
	files, err := filepath.Glob("../*/*.schema.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("schemas: %q, %v", files, err)
	}
	all := map[*schema.Schema][]domarkx.Value{}
	add := func(text []byte, docs ...[]byte) {
		s, err := schema.Compile(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if !s.HasRule() {
			t.Errorf("no rule for %.200s", text)
		}
		for _, doc := range docs {
			if v, err := domarkx.ParseValue(doc); err == nil {
				all[s] = append(all[s], v)
			}
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var docs [][]byte
		inside, _ := filepath.Glob(filepath.Dir(file) + "/testdata/*")
		for _, name := range inside {
			switch data, _ := os.ReadFile(name); filepath.Ext(name) {
			case ".json", ".out":
				docs = append(docs, data)
			case ".jsonl":
				docs = append(docs, bytes.Split(data, []byte("\n"))...)
			}
		}
		add(text, docs...)
	}
	add([]byte(text), []byte(`{"kind": "a", "version": 1, "name": "abc", "count": 3, "at": "2025-01-02T03:04:05Z", "a/b~c": [true], "form": {"z": 1}}`))
	return all
}

// What the rule of a schema says of a value, the validator says too.
func TestRuleAgrees(t *testing.T) {
	all := schemas(t)
	sure := 0
	for s, docs := range all {
		for _, v := range docs {
			if isSure, _, _, _ := s.Verdicts(v); isSure {
				sure++
			}
			rapid.Check(t, func(t *rapid.T) {
				changed := v
				for range rapid.IntRange(0, 2).Draw(t, "changes") {
					changed = mutate(t, changed)
				}
				isSure, isRefused, valid, err := s.Verdicts(changed)
				if err != nil || isSure && !valid || isRefused && valid {
					t.Fatalf("%s\nsure %t, refused %t, but valid %t, %v", changed.JSON(), isSure, isRefused, valid, err)
				}
			})
		}
	}
	if sure < 20 {
		t.Errorf("only %d documents are surely valid", sure)
	}
}

// mutate changes one value somewhere.
func mutate(t *rapid.T, v domarkx.Value) domarkx.Value {
	if n := len(v.Items()); n > 0 && rapid.IntRange(0, 3).Draw(t, "into items") > 0 {
		items := append([]domarkx.Value{}, v.Items()...)
		i := rapid.IntRange(0, n-1).Draw(t, "item")
		items[i] = mutate(t, items[i])
		return domarkx.ArrayValue(items...)
	}
	if n := len(v.Members()); n > 0 && rapid.IntRange(0, 9).Draw(t, "into members") > 0 {
		members := append([]domarkx.Member{}, v.Members()...)
		i := rapid.IntRange(0, n-1).Draw(t, "member")
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			members = append(members[:i], members[i+1:]...)
		case 1:
			members = append(members, domarkx.Member{Name: members[i].Name, Value: literal(t)})
		case 2:
			members[i].Name = rapid.SampledFrom([]string{"type", "id", "role", "roleId", "z", "x"}).Draw(t, "name")
		default:
			members[i].Value = mutate(t, members[i].Value)
		}
		return domarkx.ObjectValue(members...)
	}
	return literal(t)
}

func literal(t *rapid.T) domarkx.Value {
	spelled := rapid.SampledFrom([]string{"null", "true", "0", "1", "-1", "1.0", "1e0", "1e400", "12345678901234567890", `""`, `"a"`, `"1.0"`, `"user"`, `"session"`,
		`"message"`, `"2025-01-02T03:04:05Z"`, `"2025-01-02T03:04:05"`, "[]", "[1]", "{}", `{"type": "text"}`, `{"x": 1, "y": 2}`}).Draw(t, "literal")
	v, err := domarkx.ParseValue([]byte(spelled))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// BenchmarkCheck checks the documents of this project's tests.
func BenchmarkCheck(b *testing.B) {
	all := schemas(b)
	var size int64
	for _, docs := range all {
		for _, v := range docs {
			size += int64(len(v.JSON()))
		}
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for s, docs := range all {
			for _, v := range docs {
				s.Check(v, nil)
			}
		}
	}
}

// BenchmarkCompile compiles a schema and checks one valid document.
func BenchmarkCompile(b *testing.B) {
	v, err := domarkx.ParseValue([]byte(`{"kind": "a"}`))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := schema.Compile(text)
		if err != nil || s.Check(v, nil) != nil {
			b.Fatal(err)
		}
	}
}
