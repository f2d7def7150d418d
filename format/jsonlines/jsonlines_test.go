package jsonlines_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func file(data string) format.File {
	return format.File{Path: "f", Content: strings.NewReader(data), Size: int64(len(data))}
}

// read returns the records of a file as JSON, and the reports. Each record must be the same when it
// is read again at its place.
func read(t *testing.T, data, array string) (records, reports []string) {
	t.Helper()
	r := jsonlines.NewReader(file(data), nil)
	again := jsonlines.NewReader(file(data), nil)
	record := func(v jsonvalue.Value, _ []byte, at jsonlines.Place) error {
		records = append(records, v.JSON())
		if at.Size == 0 { // the rest of a document
			return nil
		}
		whole, err := again.At(at)
		if err != nil || !whole.Equal(v) {
			t.Fatalf("the record %s reads again as %s, %v", v.JSON(), whole.JSON(), err)
		}
		return nil
	}
	var err error
	if array == "" {
		err = r.Each(record)
	} else {
		err = r.Document(array, record)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, report := range r.Reports() {
		reports = append(reports, report.Error())
	}
	return records, reports
}

func TestEach(t *testing.T) {
	for _, test := range []struct {
		data    string
		records []string
		report  string
	}{
		{"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}, ""},
		{"{\"a\":1}{\"b\":2} {\"c\":3}\n", []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}, "f:1:1: has 3 objects"},
		{"{\"a\":\"x{\"b\":2}\n", []string{`{"b":2}`}, "f:1:1: bytes 0 to 6 could not be read"},
		{"{\"a\":{\"b\":[{\"c\":1},\n{\"d\":4}\n", []string{`{"d":4}`}, "f:1:1: bytes 0 to 18 could not be read"},
		{"{\"a\":\"x\ny\"}\n{\"b\":2}\n", []string{`{"a":"x\ny"}`, `{"b":2}`}, "f:1:1: has line ends inside of strings"},
		{"\x00\x00{\"a\":1}\x00\n\x00\n", []string{`{"a":1}`}, "f:1:1: has NUL bytes"},
		{"{\"a\":\"\x00\"}\n", []string{`{"a":"\u0000"}`}, "f:1:1: has control characters"},
		{"[1]\n", nil, "f:1:1: bytes 0 to 2 could not be read; they are kept in the original: is array"},
		{"", nil, ""},
	} {
		records, reports := read(t, test.data, "")
		if diff := cmp.Diff(test.records, records); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.data, diff)
		}
		if got := strings.Join(reports, "\n"); (got == "") != (test.report == "") || !strings.HasPrefix(got, test.report) {
			t.Errorf("%q reports %q", test.data, reports)
		}
	}
}

func TestDocument(t *testing.T) {
	const text = "{\n \"messages\": {\"messages\": []},\n \"a\": [\"messages\", {\"x\": [1]}],\n \"list\": [\n  {\"t\": \"]}{[ \\\" \\\\\"},\n  5, {\"n\": {\"list\": [{}]}}\n ],\n \"list\": [{}], \"b\": \"list\"\n}\n"
	records, reports := read(t, text, "list")
	want := []string{`{"messages":{"messages":[]},"a":["messages",{"x":[1]}],"list":[],"list":[{}],"b":"list"}`, `{"t":"]}{[ \" \\"}`, `{"n":{"list":[{}]}}`}
	if diff := cmp.Diff(want, records); diff != "" || reports != nil {
		t.Errorf("(-want +got):\n%s\n%q", diff, reports)
	}
	records, reports = read(t, text[:strings.Index(text, "{\"n\"")+5], "list")
	if len(records) != 2 || len(reports) != 1 || !strings.Contains(reports[0], "could not be read") {
		t.Errorf("cut: %q, %q", records, reports)
	}
	for data, want := range map[string]bool{text: true, strings.ReplaceAll(text, "\n", ""): true, "{\"a\":1}\n{\"list\":[]}\n": false, "{\"list\":[]}": true, "": false} {
		if got, err := jsonlines.NewReader(file(data), nil).IsDocument("list"); err != nil || got != want {
			t.Errorf("%q: %t, %v", data, got, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add("{\"a\":1}\n{\"list\":[{\"b\":2},{\"c\":[\"x\ny\"]}]}\n")
	f.Add("{\"a\":\"x{\"b\":2}\n\x00{\"c\":3}{\"d\"")
	f.Fuzz(func(t *testing.T, data string) {
		read(t, data, "")
		read(t, data, "list")
	})
}
