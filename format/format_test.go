package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
)

// codec is a codec that only recognises: files that begin with its name.
func codec(name string, extensions ...string) format.Codec {
	return format.Codec{
		Name:       name,
		Extensions: extensions,
		Detect:     func(head []byte, _ string) bool { return strings.HasPrefix(string(head), name) },
	}
}

func TestLookups(t *testing.T) {
	codecs := []format.Codec{codec("one", ".one", ".1"), codec("two", ".two")}
	for _, test := range []struct {
		head, name             string
		detect, pick, wantName string
	}{
		{"one", "x.two", "one", "one", ""},
		{"two!", "", "two", "two", ""},
		{"?", "dir/x.ONE", "", "one", ""},
		{"", "x.1", "", "one", ""},
		{"?", "two", "", "", "two"},
		{"?", "x.three", "", "", ""},
	} {
		if got, ok := format.Detect(codecs, []byte(test.head), test.name); got.Name != test.detect || ok != (test.detect != "") {
			t.Errorf("Detect(%q, %q) = %q, %t", test.head, test.name, got.Name, ok)
		}
		if got, ok := format.Pick(codecs, []byte(test.head), test.name); got.Name != test.pick || ok != (test.pick != "") {
			t.Errorf("Pick(%q, %q) = %q, %t", test.head, test.name, got.Name, ok)
		}
		if got, ok := format.ByName(codecs, test.name); got.Name != test.wantName || ok != (test.wantName != "") {
			t.Errorf("ByName(%q) = %q, %t", test.name, got.Name, ok)
		}
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct{ head, want string }{
		{"\ufeff {\"a\": {\"b\": [{\"c\" : \"d\"}]}, \"e\\\"\": 1", `1a 2b 4c 1e\" `},
		{`{"a": {}} "b": 1`, `1a `},
		{`{"a\\\\": "\\\"\\\\\"", "b\\\\\"c": 1`, `1a\\\\ 1b\\\\\"c `},
		{`{"a`, ``},
		{`["a"]`, ``},
		{``, ``},
	} {
		got := ""
		for depth, name := range format.Names([]byte(test.head)) {
			got += fmt.Sprintf("%d%s ", depth, name)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.head, got, test.want)
		}
	}
}
