package jsonlines_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func TestFirst(t *testing.T) {
	for _, test := range []struct{ head, want string }{
		{"{\"a\":1}\n{\"b\":2}\n", `{"a":1}`},
		{"\ufeff \t{\"a\":1}\r\n", `{"a":1}`},
		{"\n\n{\"a\":1}\n", `{"a":1}`},
		{"\x00\x00\n{\"a\":1}\n", `{"a":1}`},
		{"{\"a\":1,\"b\":\"cut of", `{"a":1}`},
		{"{\n \"a\": 1,\n \"b\": [2,", `{"a":1,"b":[2]}`},
		{"{\"a\":\"x\x01\"}\n", `{"a":"x\u0001"}`},
		{"{\"a\":\"x{\"b\":2}\n", `{"b":2}`},
		{"{\"a\":\n{\"b\":2}\n", `{"b":2}`},
		{"{broken}\ntext\n{\"b\":2}\n", `{"b":2}`},
		{"{broken}\n{also}\n", `null`},
		{"text {\"a\":1}\n", `null`},
		{"text\n{\"a\":1}\n", `null`},
		{"[{\"a\":1}]\n", `null`},
		{"", `null`},
		{"\n \n", `null`},
	} {
		if got := jsonlines.First([]byte(test.head)).JSON(); got != test.want {
			t.Errorf("%q begins with %s, want %s", test.head, got, test.want)
		}
	}
}

func TestObjectEnd(t *testing.T) {
	for text, want := range map[string]int{
		`{}`: 2, `{} x`: 2, `{"a":{"b":[{}]}}}`: 16, `{"}":"\"}\\"}`: 13, `{"a":"}`: 0, `{`: 0, ``: 0, ` {}`: 0, `[{}]`: 0, `"{}"`: 0,
	} {
		if got := jsonlines.ObjectEnd([]byte(text)); got != want {
			t.Errorf("%s ends at %d, want %d", text, got, want)
		}
	}
}

// TestSkips: values that nobody needs are left out of the records, but not of those that are read again.
func TestSkips(t *testing.T) {
	data := `{"a":1,"skip":{"large":[1,2]},"b":{"skip":"x"}}` + "\n"
	r := jsonlines.NewReader(file(data), func(name string, kind jsonvalue.Kind) bool { return name == "skip" })
	var place jsonlines.Place
	err := r.Each(func(v jsonvalue.Value, raw []byte, at jsonlines.Place) error {
		if strings.Contains(v.JSON(), "large") || string(raw) != strings.TrimSuffix(data, "\n") {
			t.Errorf("the record %s of %s", v.JSON(), raw)
		}
		place = at
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := r.At(place); err != nil || v.JSON() != strings.TrimSuffix(data, "\n") {
		t.Errorf("read again as %s, %v", v.JSON(), err)
	}
}

// TestEnd: how much of a file will stay as it is when it grows.
func TestEnd(t *testing.T) {
	whole := "{\"a\":1}\n"
	for _, test := range []struct {
		name, data   string
		end          int
		lines        int
		open, unsure bool
	}{
		{"whole lines", whole + whole, 16, 2, false, false},
		{"a last line without its end", whole + "{\"a\":1}", 15, 2, true, false},
		{"a last line that is written", whole + "{\"a\":", 8, 2, false, false},
		{"a damaged line", whole + "garbage\n", 16, 2, false, false},
		{"damage and an object at the end", whole + "x{\"a\":1}", 8, 2, false, true},
		{"two objects at the end", whole + "{\"a\":1}{\"b\":2}", 22, 2, true, false},
		{"NULs at the end", whole + "\x00\x00\x00", 11, 2, true, false},
		{"nothing", "", 0, 0, false, false},
	} {
		r := jsonlines.NewReader(file(test.data), nil)
		if err := r.Each(func(jsonvalue.Value, []byte, jsonlines.Place) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if r.End != int64(test.end) || r.Lines != test.lines || r.Open != test.open || r.Unsure != test.unsure || r.Size() != int64(len(test.data)) {
			t.Errorf("%s: %d of %d bytes, %d lines, open %t, unsure %t", test.name, r.End, r.Size(), r.Lines, r.Open, r.Unsure)
		}
	}
}

// TestJoinedLines: a record whose string has line ends is one, within limits.
func TestJoinedLines(t *testing.T) {
	record := func(ends int, text string) string {
		return "{\"a\":\"" + strings.Repeat(text+"\n", ends) + "\"}\n{\"b\":2}\n"
	}
	for _, test := range []struct {
		name    string
		data    string
		records int
	}{
		{"few line ends", record(3, "x"), 2},
		{"as many as are tried", record(64, "x"), 2},
		{"more than are tried", record(65, "x"), 1},
		{"longer than is tried", record(60, strings.Repeat("x", 80<<10)), 1},
		{"lines that look like its end", record(3, "}"), 2},
		{"a line that begins like a record", "{\"a\":\"x\n{\"c\":3}\n\"}\n{\"b\":2}\n", 2},
		{"it never ends", "{\"a\":\"x\ny\nz", 0},
	} {
		records, reports := read(t, test.data, "")
		if len(records) != test.records || len(reports) == 0 {
			t.Errorf("%s: %d records, reports %.200q", test.name, len(records), reports)
		}
	}
}

// TestManyReports: a hostile file makes neither too many reports nor too long ones.
func TestManyReports(t *testing.T) {
	_, reports := read(t, strings.Repeat("garbage\n", 1000), "")
	if len(reports) != 101 || reports[100] != "f: 900 more places are damaged" {
		t.Errorf("%d reports, the last is %q", len(reports), reports[len(reports)-1])
	}
	_, reports = read(t, strings.Repeat("{\"", 100_000)+"\n", "")
	if len(reports) != 1 || len(reports[0]) > 300 {
		t.Errorf("%d reports, %.400q", len(reports), reports)
	}
}

// TestEscapes: control characters are escaped inside of strings alone, also behind escaped quotes.
func TestEscapes(t *testing.T) {
	for data, want := range map[string]string{
		"{\"a\\\"\x01\":\t1}\n":      `{"a\"\u0001":1}`,
		"{\"a\":\"\\\\\x02\"}\n":     `{"a":"\\\u0002"}`,
		"\ufeff{\"a\":\"\x1f\"}\r\n": `{"a":"\u001f"}`,
	} {
		if records, _ := read(t, data, ""); len(records) != 1 || records[0] != want {
			t.Errorf("%q is read as %q, want %s", data, records, want)
		}
	}
	_, reports := read(t, "\ufeff{}\n", "")
	if len(reports) != 1 || !strings.Contains(reports[0], "byte order mark") {
		t.Errorf("reports %q", reports)
	}
}

// TestReadErrors: whichever read fails, its error is returned with the name of the file.
func TestReadErrors(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for name, test := range map[string]struct{ data, array string }{
		"lines":           {strings.Repeat(`{"a":"`+long+"\"}\n", 8), ""},
		"line ends":       {"{\"a\":\"" + strings.Repeat(long+"\n", 8) + "\"}\n", ""},
		"several lines":   {"{\n\"list\": [\n" + strings.Repeat(`{"a":"`+long+"\"},\n", 8) + "{}]}", "list"},
		"one object":      {`{"list": [` + strings.Repeat(`{"a":"`+long+`"},`, 8) + `{}]}`, "list"},
		"a long document": {`{"list": [{}], "x": "` + strings.Repeat(long, 8) + `"}`, "list"},
	} {
		for reads := 0; ; reads++ {
			f := file(test.data)
			content := &formattest.FailingReader{ReaderAt: f.Content, Reads: reads}
			f.Content = content
			err := readFile(f, test.array)
			if !content.Failed() {
				if err != nil || reads < 4 {
					t.Errorf("%s: read in %d reads: %v", name, reads, err)
				}
				break
			}
			if !errors.Is(err, formattest.ErrBroken) || !strings.HasPrefix(err.Error(), "f: ") {
				t.Errorf("%s: read %d fails: %v", name, reads, err)
			}
		}
	}
}

// readFile reads a file, and each record again.
func readFile(f format.File, array string) error {
	r := jsonlines.NewReader(f, nil)
	if _, err := r.Head(); err != nil {
		return err
	}
	var places []jsonlines.Place
	record := func(v jsonvalue.Value, raw []byte, at jsonlines.Place) error {
		if at.Size > 0 {
			places = append(places, at)
		}
		return nil
	}
	if array == "" {
		if err := r.Each(record); err != nil {
			return err
		}
	} else {
		if one, err := r.IsDocument(array); err != nil {
			return err
		} else if !one {
			return errors.New("the file is not taken for a document")
		}
		if err := r.Document(array, record); err != nil {
			return err
		}
	}
	for _, at := range places {
		if _, err := r.At(at); err != nil {
			return err
		}
	}
	return nil
}

// TestRecordErrors: an error of the caller ends the reading.
func TestRecordErrors(t *testing.T) {
	for name, test := range map[string]struct{ data, array string }{
		"lines":                 {"{\"a\":1}\n{\"b\":2}\n", ""},
		"objects on a line":     {"{\"a\":1}{\"b\":2}\n", ""},
		"control characters":    {"{\"a\":\"\x01\"}\n{\"b\":2}\n", ""},
		"line ends":             {"{\"a\":\"\n\"}\n{\"b\":2}\n", ""},
		"the object of a list":  {`{"list":[]}`, "list"},
		"the items of the list": {`{"list":[{}]}`, "list"},
	} {
		calls, fail := 0, 1
		if name == "the items of the list" {
			fail = 2
		}
		record := func(jsonvalue.Value, []byte, jsonlines.Place) error {
			if calls++; calls == fail {
				return formattest.ErrBroken
			}
			return nil
		}
		r := jsonlines.NewReader(file(test.data), nil)
		var err error
		if test.array != "" {
			err = r.Document(test.array, record)
		} else {
			err = r.Each(record)
		}
		if !errors.Is(err, formattest.ErrBroken) || calls != fail {
			t.Errorf("%s: %d calls, %v", name, calls, err)
		}
	}
}

// TestChanged: a record that is another one when it is read again is an error.
func TestChanged(t *testing.T) {
	for name, data := range map[string]string{"damaged": `{"a":1`, "another kind": `[1,2,3]`} {
		r := jsonlines.NewReader(file(data+strings.Repeat(" ", 10)), nil)
		if _, err := r.At(jsonlines.Place{Start: 0, Size: 7}); !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), "f: ") || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := jsonlines.NewReader(file("{}"), nil)
	if _, err := r.At(jsonlines.Place{Start: 1, Size: 5}); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("behind the end: %v", err)
	}
}

// TestDocumentDamage: of a document with damage, the items before and behind it are read.
func TestDocumentDamage(t *testing.T) {
	for _, test := range []struct {
		name, data string
		want       []string
		report     string
	}{
		{"an item that is not JSON", `{"list":[{"a":1},{"b":x},{"c":3}]}`, []string{`{"list":[]}`, `{"a":1}`, `{"c":3}`}, "f:1:1: bytes 17 to 23 could not be read"},
		{"an item that is an array", `{"list":[{"a":1},[2],{"c":3}]}`, []string{`{"list":[]}`, `{"a":1}`, `{"c":3}`}, "f:1:1: bytes 17 to 19 could not be read"},
		{"it ends in an item", "{\"list\":[{\"a\":1},\n{\"b\":", []string{`{"list":[]}`, `{"a":1}`}, "f:2:1: bytes 16 to 22 could not be read"},
		{"it ends before the list", `{"x":{"y":1`, []string{`{"x":{}}`}, "f:1:1: bytes 0 to 10 could not be read"},
		{"text behind it", `{"list":[{"a":1}]} x`, []string{`{"list":[]}`, `{"a":1}`}, "f:1:1: bytes 16 to 19 could not be read"},
		{"the list is not one", `{"list":{"a":1}}`, []string{`{"list":{"a":1}}`}, ""},
		{"the list is in a member", `{"x":{"list":[{"a":1}]}}`, []string{`{"x":{"list":[{"a":1}]}}`}, ""},
		{"the name is escaped", `{"\u006cist":[{"a":1}]}`, []string{`{"list":[{"a":1}]}`}, ""},
		{"a string that is the name", `{"x":"list","y":[1],"list":[{"a":1}]}`, []string{`{"x":"list","y":[1],"list":[]}`, `{"a":1}`}, ""},
	} {
		records, reports := read(t, test.data, "list")
		if diff := cmp.Diff(test.want, records); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if got := strings.Join(reports, "\n"); (got == "") != (test.report == "") || !strings.HasPrefix(got, test.report) {
			t.Errorf("%s: reports %q", test.name, reports)
		}
	}
	if testing.Short() {
		return
	}
	huge := `{"x":"` + strings.Repeat("x", 17<<20) + `","list":[{"a":1}]}`
	if records, reports := read(t, huge, "list"); len(records) != 1 || len(reports) != 1 {
		t.Errorf("much beside the list: %d records, %d reports", len(records), len(reports))
	}
}

// TestIsDocument: a first line that is cut off by a limit still says whether it is a document.
func TestIsDocument(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, test := range map[string]struct {
		data string
		want bool
	}{
		"the list before a long text":         {`{"list":[],"x":"` + long + `"}`, true},
		"the list behind a long text":         {`{"x":"` + long + `","list":[]}`, false},
		"a document on several lines":         {"{\n\"x\": 1,\n\"list\": []}", true},
		"a document whose first line has it":  {"{\"list\": [\n{}]}", true},
		"a damaged line":                      {"{\"x\":1,\n{\"list\":[]}\n", false},
		"blank lines first":                   {"\n{\"a\":1}\n", true},
		"a byte order mark and the list":      {"\ufeff{\"list\":[]}\n", true},
		"NULs around a record without a list": {"\x00{\"a\":1}\x00\n", false},
	} {
		if got, err := jsonlines.NewReader(file(test.data), nil).IsDocument("list"); err != nil || got != test.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
