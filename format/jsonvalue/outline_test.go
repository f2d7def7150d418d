package jsonvalue_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

func passed(name string, kind jsonvalue.Kind) bool {
	return name == "p" || name == "s" && kind == jsonvalue.String
}

// emptied returns a value as an outline has it.
func emptied(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Array:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = emptied(items[i])
		}
		return jsonvalue.ArrayValue(items...)
	case jsonvalue.Object:
		members := slices.Clone(v.Members())
		for i, m := range members {
			members[i].Value = emptied(m.Value)
			if !passed(m.Name, m.Value.Kind()) {
				continue
			}
			switch m.Value.Kind() {
			case jsonvalue.String:
				members[i].Value = jsonvalue.StringValue("")
			case jsonvalue.Array:
				members[i].Value = jsonvalue.ArrayValue()
			case jsonvalue.Object:
				members[i].Value = jsonvalue.ObjectValue()
			}
		}
		return jsonvalue.ObjectValue(members...)
	}
	return v
}

// checkOutline holds the outline of a text against its value.
func checkOutline(t *testing.T, data []byte) {
	t.Helper()
	v, err := jsonvalue.ParseValue(data)
	outline, wrong := jsonvalue.ParseOutline(data, passed)
	if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
		t.Fatalf("the outline of %q: %v, expected %v", data, wrong, err)
	}
	if err == nil && !outline.Equal(emptied(v)) {
		t.Fatalf("the outline of %q: %s", data, cmp.Diff(emptied(v).JSON(), outline.JSON()))
	}
}

func TestParseOutline(t *testing.T) {
	for _, text := range []string{
		`{"p":"x\n\ud83d\ude00\"","q":"x\ny","s":[{"s":"é\t","p":{"q":[1,-2.5e3,null,true,{"p":{}}]}}],"n":12,"p":[[]]}`,
		`{"p":7,"s":7}`, `{"p":null,"q":1}`, `[{"p":{"q":1}},2]`, `"p"`,
		`{"p":"x`, `{"p":"x\`, `{"p":"x\q"}`, `{"p":"\u12"}`, "{\"p\":\"x\ny\"}", `{"p":{"a":01}}`, `{"p":[1,]}`, `{"p":[1`, `{"p":{"q":1`, `{"p":}`, `{"p":`,
		`{"p":{"q":"x"}`, `{"p":[{"q":"x"}],"q":"\x"}`, `{"p":tru}`,
	} {
		checkOutline(t, []byte(text))
	}
}
