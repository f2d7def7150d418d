package format_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

func isItem(v jsonvalue.Value) bool {
	_, id := v.Get("id")
	_, text := v.Get("text")
	return id && text
}

// TestSalvage damages a document somewhere in its array: each item that is untouched is
// read, and the rest is reported.
func TestSalvage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []jsonvalue.Value
		for i := range rapid.IntRange(0, 6).Draw(t, "items") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"{", "}", "[", "]", `"`, ",", ":", `{"id":1,"text":2}`, "x", "\n", `\`}), 0, 6).Draw(t, "text"), "")
			items = append(items, jsonvalue.ObjectValue(
				jsonvalue.Member{Name: "id", Value: jsonvalue.NumberValue(fmt.Sprint(i))},
				jsonvalue.Member{Name: "inner", Value: jsonvalue.ObjectValue(jsonvalue.Member{Name: "a", Value: jsonvalue.ArrayValue(jsonvalue.StringValue("b"))})},
				jsonvalue.Member{Name: "text", Value: jsonvalue.StringValue(text)}))
		}
		doc := jsonvalue.ObjectValue(
			jsonvalue.Member{Name: "before", Value: jsonvalue.StringValue("b")},
			jsonvalue.Member{Name: "in", Value: jsonvalue.ObjectValue(
				jsonvalue.Member{Name: "list", Value: jsonvalue.ArrayValue(items...)},
				jsonvalue.Member{Name: "behind", Value: jsonvalue.NumberValue("1")})},
			jsonvalue.Member{Name: "last", Value: jsonvalue.NumberValue("2")})
		data := doc.AppendJSON(nil, "", rapid.SampledFrom([]string{"", " "}).Draw(t, "indent"))
		whole, err := jsonvalue.ParseValue(data)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := whole.Get("in")
		list, _ := in.Get("list")
		from := rapid.IntRange(list.Offset()+1, len(data)).Draw(t, "from")
		to := rapid.IntRange(from, len(data)).Draw(t, "to")
		for _, item := range list.Items() { // remains of two items can look like the end
			if from < item.Offset() && to > item.Offset() {
				to = item.Offset()
			}
		}
		junk := rapid.SampledFrom([]string{"", "\x00", strings.Repeat("\x00", to-from), `"`, "{", `\`}).Draw(t, "junk")
		broken := append(append(append([]byte{}, data[:from]...), junk...), data[to:]...)
		v, damage := jsonvalue.ParsePartial(broken)
		if damage == nil {
			return
		}
		read, gaps := format.Salvage(broken, v, damage, isItem, nil, "in", "list")
		if before, _ := read.Get("before"); before.Text() != "b" {
			t.Errorf("read as %s", read.JSON())
		}
		in, _ = read.Get("in")
		got, _ := in.Get("list")
		found := map[string]bool{}
		for _, item := range got.Items() {
			found[item.JSON()] = true
		}
		for i, item := range list.Items() {
			end := len(data)
			if i+1 < len(items) {
				end = list.Items()[i+1].Offset()
			}
			untouched := from >= end || to <= item.Offset()
			if untouched && !found[item.JSON()] {
				t.Errorf("item %d is not read of\n%q: %s", i, broken, got.JSON())
			}
		}
		last := 0
		for _, g := range gaps {
			if g.From < last || g.To <= g.From || g.To > len(broken) {
				t.Errorf("gaps %v in %d bytes", gaps, len(broken))
			}
			last = g.To
		}
		if reports := format.Damaged("d", broken, damage, gaps, "items"); len(reports) != max(1, len(gaps)) || reports[0].Path != "d" {
			t.Errorf("reports: %v of %v", reports, gaps)
		}
	})
}

// TestSalvageHostile takes no quadratic time.
func TestSalvageHostile(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 50_000
	}
	for _, text := range []string{
		`{"list":[\x00` + strings.Repeat(`{"a":`, n),
		`{"list":[\x00` + strings.Repeat(`{"a":[],"`, n),
		`{"list":[` + strings.Repeat(`],"a":1`, n),
	} {
		data := []byte(text)
		v, damage := jsonvalue.ParsePartial(data)
		if read, _ := format.Salvage(data, v, damage, isItem, nil, "list"); read.Kind() != jsonvalue.Object {
			t.Errorf("read as a %s", read.Kind())
		}
	}
}

func TestNoUTF8(t *testing.T) {
	if report := format.NoUTF8("p", []byte("ä\n\ufffd")); report != nil {
		t.Error(report)
	}
	report := format.NoUTF8("p", []byte("ä\nö\xffx"))
	if report == nil || report.Error() != "p:2:2: byte 0xff is not UTF-8; it reads as U+FFFD" {
		t.Error(report)
	}
}

// TestDamagedIsBounded: unreadable ranges are listed individually only up to a limit.
func TestDamagedIsBounded(t *testing.T) {
	data := []byte(strings.Repeat("é\nxx ", 5000))
	var gaps []format.Gap
	for at := 0; at+2 < len(data); at += 6 {
		gaps = append(gaps, format.Gap{From: at, To: at + 2, Item: at / 6})
	}
	reports := format.Damaged("p", data, errors.New("broken"), gaps, "items")
	if len(reports) != 1001 {
		t.Fatalf("%d reports", len(reports))
	}
	for i, r := range reports[1:1000] {
		line, column := syntax.Position(data, gaps[i+1].From)
		endLine, endColumn := syntax.Position(data, gaps[i+1].To)
		want := fmt.Sprintf("2 bytes from %d:%d to %d:%d, after %d items, could not be read", line, column, endLine, endColumn, i+1)
		if r.Line != line || r.Column != column || r.Msg != want {
			t.Fatalf("report %d: %v, expected %d:%d: %s", i+1, r, line, column, want)
		}
	}
	if want := fmt.Sprintf("%d bytes in %d more places could not be read", 2*(len(gaps)-1000), len(gaps)-1000); reports[1000].Msg != want {
		t.Errorf("%q, expected %q", reports[1000].Msg, want)
	}
}
