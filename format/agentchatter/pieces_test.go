package agentchatter_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/agentchatter"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// told returns the result of reading a document, as text.
func told(codec format.Codec, data []byte) string {
	var b strings.Builder
	for s, err := range codec.Open(format.File{Path: "s.json", Content: bytes.NewReader(data), Size: int64(len(data))}) {
		if err != nil {
			return "error: " + err.Error()
		}
		doc, err := s.Document()
		if err != nil {
			return "error: " + err.Error()
		}
		for _, report := range doc.Damage {
			fmt.Fprintln(&b, report)
		}
		b.WriteString(doc.Header.Value().JSON() + "\n")
		for _, m := range doc.Conversation {
			b.WriteString(m.Message.Value().JSON() + "\n")
		}
	}
	return b.String()
}

// inPieces is the codec as it reads large documents; it mends any.
var inPieces = agentchatter.Reading(-1, 1<<40)

// unmended is the codec as it reads documents that are too large to be mended.
var unmended = agentchatter.Reading(-1, 0)

func comparePieces(t interface {
	Helper()
	Fatalf(string, ...any)
}, data []byte) {
	t.Helper()
	atOnce := told(agentchatter.Codec(), data)
	if diff := cmp.Diff(atOnce, told(inPieces, data)); diff != "" {
		t.Fatalf("at once (-) and in pieces (+):\n%s\nof %.2000q", diff, data)
	}
	v, err := jsonvalue.ParseValue(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil || v.Kind() != jsonvalue.Object || bytes.Count(data, []byte(`"context"`)) > 1 || bytes.Count(data, []byte(`"messages"`)) > 1 {
		return
	}
	if diff := cmp.Diff(atOnce, told(unmended, data)); diff != "" {
		t.Fatalf("at once (-) and in pieces (+), without mending:\n%s\nof %.2000q", diff, data)
	}
}

const several = "\ufeff{\"schemaVersion\":\"1.0\",\"teamId\":\"ü\",\n \"sessionId\":\"s\",\"createdAt\":\"2024-02-29T10:00:00Z\",\"updatedAt\":\"2024-02-29T10:00:00Z\",\n\"context\":{\"messages\" : [" +
	`{"id":"1","timestamp":"2024-02-29T10:00:00Z","speaker":{"id":"h","name":"h","displayName":"H","type":"human"},"content":"]},\"x\":[{ \\"},` + "\n  " +
	`{"id":"","timestamp":"2024","speaker":{"roleId":"h","roleName":"h","roleTitle":"ü","type":"ai"},"content":5}, 7 ,"ä",null` +
	"\n],\"teamTask\":null,\"timestamp\":\"x\",\"version\":1},\n\"metadata\":{\"messageCount\":5,\"summary\":\"5 messages - \\\"\"}}\n"

// TestPieces: the result of reading a document does not depend on how it is read, wherever a
// byte is lost, added or another one.
func TestPieces(t *testing.T) {
	step := 1
	if testing.Short() { // each place takes some ten readings
		step = 13
	}
	for at := 0; at <= len(several); at += step {
		before, behind := several[:at], several[at:]
		comparePieces(t, []byte(before))
		others := []string{"{", "}", "[", "]", ",", ":", "0", "\x00", "\xff", "\\"}
		for _, more := range []string{"", " ", "\"", others[at%len(others)]} {
			comparePieces(t, []byte(before+more+behind))
			if behind != "" {
				comparePieces(t, []byte(before+more+behind[1:]))
			}
		}
	}
	comparePieces(t, []byte(strings.Replace(several, `"context"`, `"con\u0074ext"`, 1)))
	comparePieces(t, []byte(strings.Replace(several, `"teamTask":null`, `"messages":[]`, 1)))
	comparePieces(t, []byte(strings.Replace(several, `"metadata"`, `"context":{"messages":[]},"metadata"`, 1)))
	comparePieces(t, []byte(strings.Replace(several, `"metadata"`, `"context":0,"metadata"`, 1)))
}

func TestPiecesOfLongDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		for i := range rapid.IntRange(0, 30).Draw(t, "messages") {
			text := strings.Repeat(rapid.SampledFrom([]string{"a", "\"", "ü", "\n", "```go\nx\n```\n", "]", "\\"}).Draw(t, "text"), rapid.IntRange(0, 20000).Draw(t, "length"))
			items = append(items, fmt.Sprintf(`{"id":"%d","timestamp":"2024-02-29T10:00:00Z","speaker":{"id":"h","name":"h","displayName":"H","type":"human"},"content":%s}`, i, jsonvalue.StringValue(text).JSON()))
		}
		glue := rapid.SampledFrom([]string{",", " , ", ",\n\n"}).Draw(t, "glue")
		before, behind, _ := strings.Cut(small, `{"id":"m"`)
		_, behind, _ = strings.Cut(behind, `]}}`)
		document := before + strings.Join(items, glue) + behind
		if cut := rapid.IntRange(0, 2*len(document)).Draw(t, "cut"); cut < len(document) {
			document = document[:cut]
		}
		comparePieces(t, []byte(document))
	})
}

// TestDamageOfLargeDocuments: a damaged document that is too large to be mended is read up to
// the damage.
func TestDamageOfLargeDocuments(t *testing.T) {
	for _, test := range []struct {
		text, want string
		messages   int
	}{
		{strings.Replace(several, `"content":5`, `"content":x`, 1), "s.json:4:3: a message here is not valid JSON", 1},
		{several[:len(several)-3], "were not read, because the document is larger than", 5},
		{strings.Replace(several, "7 ,", "7 ", 1), "s.json:4:115: a message here is not valid JSON: expected comma after array element", 3},
		{strings.Replace(several, `"teamTask":null`, `"teamTask":nil`, 1), `s.json:5:14: a value here is not valid JSON: invalid character 'i' in literal null (expecting 'u'); `, 5},
	} {
		got := told(unmended, []byte(test.text))
		if !strings.Contains(got, test.want) || strings.Count(got, `{"role"`) != test.messages {
			t.Errorf("want %q and %d messages:\n%s", test.want, test.messages, got)
		}
	}
	if got := told(unmended, []byte(`{"schemaVersion":"1.0","context":{"messages":[`)); !strings.HasPrefix(got, "error: s.json:1:47: unexpected end of the document") {
		t.Error(got)
	}
	if got := told(unmended, []byte(strings.Replace(several, `"1.0"`, `"2.0"`, 1))); !strings.HasPrefix(got, `error: s.json:1:18: /schemaVersion: schemaVersion is "2.0"`) {
		t.Error(got)
	}
}

// TestManyReports: a document with many errors has at most a hundred reports.
func TestManyReports(t *testing.T) {
	before, behind, _ := strings.Cut(small, `{"id":"m"`)
	_, behind, _ = strings.Cut(behind, `]}}`)
	comparePieces(t, []byte(before+strings.TrimSuffix(strings.Repeat("1,\n", 1000), ",\n")+behind))
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte(several))
	f.Add([]byte(small))
	f.Fuzz(func(t *testing.T, data []byte) {
		if diff := cmp.Diff(told(agentchatter.Codec(), data), told(inPieces, data)); diff != "" {
			t.Fatalf("at once (-) and in pieces (+):\n%s", diff)
		}
		told(unmended, data)
	})
}
