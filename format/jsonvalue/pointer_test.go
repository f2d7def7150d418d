package jsonvalue_test

import (
	"testing"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

func TestNearest(t *testing.T) {
	v, err := jsonvalue.ParseValue([]byte(`{"a": [1, {"b/c": 2, "~": 3, "0": 4}], "": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"/a/0": "1", "/a/1/b~1c": "2", "/a/1/~0": "3", "/a/1/0": "4", "/": "5",
		"/a/0/x": "1", "/a/2": "[1,{\"b/c\":2,\"~\":3,\"0\":4}]", "/a/-1/x": "[1,{\"b/c\":2,\"~\":3,\"0\":4}]",
	} {
		if got := v.Nearest(pointer); got.JSON() != want {
			t.Errorf("%s: %s, want %s", pointer, got.JSON(), want)
		}
	}
	if got := v.Nearest(""); !got.Equal(v) {
		t.Errorf("the empty pointer: %s", got.JSON())
	}
}
