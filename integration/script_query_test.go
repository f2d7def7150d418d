package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands with which scripts check a file, stdout or stderr.

func parseJSON(ts *testscript.TestScript, file string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(file))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is not JSON: %v", file, err)
	}
	if d.More() {
		ts.Fatalf("%s holds more than one JSON value", file)
	}
	return v
}

// at returns the value that a JSON pointer (RFC 6901) refers to.
func at(v any, pointer string) (any, bool) {
	if pointer == "/" || pointer == "" {
		return v, true
	}
	for _, key := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch w := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = w[key]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(w) {
				return nil, false
			}
			v = w[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// scriptJSON implements "[!] json FILE POINTER [VALUE]", which expects a value. VALUE is
// JSON, or a string with JSON escapes but without its quotes. Without VALUE, any value
// matches; "#N" matches an array of N elements.
func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: [!] json FILE POINTER [VALUE]")
	}
	got, found := at(parseJSON(ts, args[0]), args[1])
	if len(args) == 2 {
		if found == neg {
			ts.Fatalf("%s: there is %t, %v", args[1], found, got)
		}
		return
	}
	same := found && matches(got, args[2])
	if same == neg {
		text, _ := json.Marshal(got)
		ts.Fatalf("%s is %s (there: %t), expected %s", args[1], text, found, args[2])
	}
}

func matches(got any, want string) bool {
	if n, ok := strings.CutPrefix(want, "#"); ok {
		switch g := got.(type) {
		case []any:
			return strconv.Itoa(len(g)) == n
		case map[string]any:
			return strconv.Itoa(len(g)) == n
		}
	}
	if s, ok := got.(string); ok {
		var text string
		if s == want || json.Unmarshal([]byte(`"`+want+`"`), &text) == nil && s == text {
			return true
		}
	}
	d := json.NewDecoder(strings.NewReader(want))
	d.UseNumber()
	var v any
	return d.Decode(&v) == nil && !d.More() && reflect.DeepEqual(got, v)
}

// scriptJSONSame implements "[!] jsonsame A B [POINTER...]", which compares two JSON
// values but ignores the parts at the pointers.
func scriptJSONSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] jsonsame A B [POINTER...]")
	}
	a, b := parseJSON(ts, args[0]), parseJSON(ts, args[1])
	for _, pointer := range args[2:] {
		cut := strings.LastIndexByte(pointer, '/')
		for _, v := range []any{a, b} {
			if parent, ok := at(v, pointer[:cut]); ok {
				if m, ok := parent.(map[string]any); ok {
					delete(m, pointer[cut+1:])
				}
			}
		}
	}
	if reflect.DeepEqual(a, b) == neg {
		x, _ := json.MarshalIndent(a, "", " ")
		y, _ := json.MarshalIndent(b, "", " ")
		ts.Fatalf("same: %t\n%s: %s\n%s: %s", !neg, args[0], x, args[1], y)
	}
}

// scriptLines implements "[!] lines FILE N", which expects N lines.
func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] lines FILE N")
	}
	if n := fmt.Sprint(strings.Count(ts.ReadFile(args[0]), "\n")); (n == args[1]) == neg {
		ts.Fatalf("%s has %s lines", args[0], n)
	}
}

// scriptField implements "[!] field FILE LINE FIELD VALUE", which expects a value in
// this line and tab-separated field, both counted from 1. "=NAME" stores the value in a
// variable instead.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 4 {
		ts.Fatalf("usage: [!] field FILE LINE FIELD VALUE")
	}
	row, err := strconv.Atoi(args[1])
	ts.Check(err)
	column, err := strconv.Atoi(args[2])
	ts.Check(err)
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	if row > len(lines) {
		ts.Fatalf("there are %d lines", len(lines))
	}
	fields := strings.Split(lines[row-1], "\t")
	if column > len(fields) {
		ts.Fatalf("line %d has %d fields", row, len(fields))
	}
	got := fields[column-1]
	if name, ok := strings.CutPrefix(args[3], "="); ok {
		ts.Setenv(name, got)
	} else if (got == args[3]) == neg {
		ts.Fatalf("field %d of line %d is %q", column, row, got)
	}
}
