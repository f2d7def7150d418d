package schema_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/schema"
)

// schemas returns the project's own schemas, and documents for each.
func schemas(t testing.TB) map[string][]jsonvalue.Value {
	t.Helper()
	files, err := filepath.Glob("../*/*.schema.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("schemas: %q, %v", files, err)
	}
	all := map[string][]jsonvalue.Value{}
	add := func(schema string, docs ...[]byte) {
		for _, doc := range docs {
			if v, err := jsonvalue.ParseValue(doc); err == nil {
				all[schema] = append(all[schema], v)
			}
		}
	}
	for _, file := range files {
		schema, err := os.ReadFile(file)
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
		add(string(schema), docs...)
	}
	add(text, []byte(`{"kind": "a", "version": 1, "name": "abc", "count": 3, "at": "2025-01-02T03:04:05Z", "a/b~c": [true], "form": {"z": 1}}`))
	return all
}

// TestAgreesWithLibrary compares the verdicts on the documents of the project's tests,
// and on mutations of them, with those of the JSON Schema library.
func TestAgreesWithLibrary(t *testing.T) {
	valid := 0
	for text, docs := range schemas(t) {
		text = strings.ReplaceAll(text, `"format":`, `"ignored":`) // the library asserts no formats
		s, err := schema.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		var parsed jsonschema.Schema
		if err := json.Unmarshal([]byte(text), &parsed); err != nil {
			t.Fatal(err)
		}
		library, err := parsed.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range docs {
			if s.Check(v, nil) == nil {
				valid++
			}
			rapid.Check(t, func(t *rapid.T) {
				changed := v
				for range rapid.IntRange(0, 2).Draw(t, "changes") {
					changed = mutate(t, changed)
				}
				reports := s.Check(changed, nil)
				if err := library.Validate(decoded(changed)); (err == nil) != (len(reports) == 0) {
					t.Fatalf("%s\nreports %v, the library %v", changed.JSON(), reports, err)
				}
			})
		}
	}
	if valid < 7 {
		t.Errorf("only %d documents are valid", valid)
	}
}

// decoded returns a value as encoding/json decodes it, with numbers beyond its range.
func decoded(v jsonvalue.Value) any {
	switch v.Kind() {
	case jsonvalue.Number:
		n, _ := strconv.ParseFloat(v.Text(), 64)
		return min(n, math.MaxFloat64)
	case jsonvalue.Array:
		items := []any{}
		for _, item := range v.Items() {
			items = append(items, decoded(item))
		}
		return items
	case jsonvalue.Object:
		members := map[string]any{}
		for _, m := range v.Members() {
			members[m.Name] = decoded(m.Value)
		}
		return members
	case jsonvalue.String:
		return v.Text()
	case jsonvalue.Bool:
		return v.IsTrue()
	}
	return nil
}

// Keywords that the checker leaves to the library are validated.
func TestOtherKeywords(t *testing.T) {
	s, err := schema.Compile(`{"properties": {"even": {"multipleOf": 2}}, "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		doc   string
		valid bool
	}{
		{`{"even": 2, "x-a": "b"}`, true},
		{`{"even": 3}`, false},
		{`{"x-a": 1}`, false},
		{`{"y": 1}`, false},
	} {
		v, err := jsonvalue.ParseValue([]byte(test.doc))
		if err != nil {
			t.Fatal(err)
		}
		if reports := s.Check(v, []byte(test.doc)); (len(reports) == 0) != test.valid {
			t.Errorf("%s: %v", test.doc, reports)
		}
	}
}

// mutate changes one value somewhere.
func mutate(t *rapid.T, v jsonvalue.Value) jsonvalue.Value {
	if n := len(v.Items()); n > 0 && rapid.IntRange(0, 3).Draw(t, "into items") > 0 {
		items := append([]jsonvalue.Value{}, v.Items()...)
		i := rapid.IntRange(0, n-1).Draw(t, "item")
		items[i] = mutate(t, items[i])
		return jsonvalue.ArrayValue(items...)
	}
	if n := len(v.Members()); n > 0 && rapid.IntRange(0, 9).Draw(t, "into members") > 0 {
		members := append([]jsonvalue.Member{}, v.Members()...)
		i := rapid.IntRange(0, n-1).Draw(t, "member")
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			members = append(members[:i], members[i+1:]...)
		case 1:
			members = append(members, jsonvalue.Member{Name: members[i].Name, Value: literal(t)})
		case 2:
			members[i].Name = rapid.SampledFrom([]string{"type", "id", "role", "roleId", "z", "x"}).Draw(t, "name")
		default:
			members[i].Value = mutate(t, members[i].Value)
		}
		return jsonvalue.ObjectValue(members...)
	}
	return literal(t)
}

func literal(t *rapid.T) jsonvalue.Value {
	spelled := rapid.SampledFrom([]string{"null", "true", "0", "1", "-1", "1.0", "1e0", "1e400", "12345678901234567890", `""`, `"a"`, `"1.0"`, `"user"`, `"session"`,
		`"message"`, `"2025-01-02T03:04:05Z"`, `"2025-01-02T03:04:05"`, "[]", "[1]", "{}", `{"type": "text"}`, `{"x": 1, "y": 2}`}).Draw(t, "literal")
	v, err := jsonvalue.ParseValue([]byte(spelled))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// BenchmarkCheck validates the documents of this project's tests.
func BenchmarkCheck(b *testing.B) {
	all := map[*schema.Schema][]jsonvalue.Value{}
	var size int64
	for text, docs := range schemas(b) {
		s, err := schema.Compile(text)
		if err != nil {
			b.Fatal(err)
		}
		all[s] = docs
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
	v, err := jsonvalue.ParseValue([]byte(`{"kind": "a"}`))
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
