package markdown_test

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// nasty are strings that mean something to Markdown, YAML, JSON or this format.
var nasty = []string{
	"", " ", "\n", "\n\n", "\t", "\r", "\r\n", "\x00", "\x1b[31m", "\u0085", "\u2028", "\u2029", "\ufeff", "\ufffd",
	"\xed\xa0\xbd", "\xed\xb8\x80", "é", "中", "😀", "~", "\\", "\\\\",
	"## user", "## Assistant ##", "## system_message", "\\## user", "  ## user", "    ## user", "- ## user", "> ## user",
	"# Title", "### user", "user\n----", "user\n====", "Setext\n---",
	"```", "````", "~~~", "```bash", "```bash name=x", "``` \t", "  ```", "    ```", "```json domarkx-message", "```json domarkx-snapshot",
	"```session-config", "```workspace-config", "```msg-metadata", "```python setup-script", "resources:\n  - type: x", "{}", "{\"a\": 1}",
	"[include](x.md)", "[include](x.md#1)", "> [INCLUDE](x)", "\\[include](x)", "  [include](a b)  ",
	"> quote", "> ", ">", "- item", "- ", "-", "1. one", "2. two", "10) ten", "* * *", "***", "---", "...", "- a\n  - b", "  continued", "\tindented",
	"<!-- -->", "<pre>", "| a | b |", "text", "two words", "key: value", "# comment", "a #b", "a: b", "yes", "NULL", "true", "~", "0777", "1_000", "0x1F", "1e3", ".inf", "2025-01-01",
	"name=x", "setup-script", "domarkx-message", "preamble",
}

func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		pieces := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.SampledFrom(nasty), rapid.SampledFrom(nasty), rapid.StringN(0, 5, -1)), 0, 6).Draw(t, "pieces")
		s := strings.Join(pieces, rapid.SampledFrom([]string{"", "\n", "\n\n", " "}).Draw(t, "glue"))
		return canonicalWTF8(s)
	})
}

// canonicalWTF8 joins the surrogates that stand side by side, as any parser of
// JSON does.
func canonicalWTF8(s string) string {
	v, err := jsonvalue.ParseValue([]byte(jsonvalue.StringValue(s).JSON()))
	if err != nil {
		panic(err)
	}
	return v.Text()
}

func word() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"bash", "python", "tool-call", "", "a b", "json", "名", "name=y", "`", "x`y", "session-config", "msg-metadata", "list.sh"}), text())
}

var numbers = []string{"0", "-0", "1", "60", "1.50", "1e400", "-1E-7", "0.1e+2", "123456789012345678901234567890", "1.0"}

func value(depth int) *rapid.Generator[jsonvalue.Value] {
	scalar := rapid.Custom(func(t *rapid.T) jsonvalue.Value {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return jsonvalue.Value{}
		case 1:
			return jsonvalue.BoolValue(rapid.Bool().Draw(t, "bool"))
		case 2:
			return jsonvalue.NumberValue(rapid.SampledFrom(numbers).Draw(t, "number"))
		}
		return jsonvalue.StringValue(text().Draw(t, "string"))
	})
	if depth == 0 {
		return scalar
	}
	return rapid.Custom(func(t *rapid.T) jsonvalue.Value {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return jsonvalue.ArrayValue(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "items")...)
		case 1:
			return object(depth-1).Draw(t, "object")
		}
		return scalar.Draw(t, "scalar")
	})
}

func members(depth int) *rapid.Generator[[]jsonvalue.Member] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jsonvalue.Member {
		return jsonvalue.Member{
			Name:  rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "engine", "timeout", "preamble", "workspace", "role", "x y", "name"}), text()).Draw(t, "name"),
			Value: value(depth).Draw(t, "value"),
		}
	}), 0, 4)
}

func object(depth int) *rapid.Generator[jsonvalue.Value] {
	return rapid.Map(members(depth), func(m []jsonvalue.Member) jsonvalue.Value { return jsonvalue.ObjectValue(m...) })
}

// unknown are members that a message, block or header does not know, or known ones
// that are null.
func unknown(nullable ...string) *rapid.Generator[[]jsonvalue.Member] {
	return rapid.Custom(func(t *rapid.T) []jsonvalue.Member {
		if rapid.IntRange(0, 3).Draw(t, "any") > 0 {
			return nil
		}
		var list []jsonvalue.Member
		for _, m := range members(1).Draw(t, "unknown") {
			list = append(list, jsonvalue.Member{Name: "x-" + m.Name, Value: m.Value})
		}
		for _, name := range nullable {
			if rapid.IntRange(0, 5).Draw(t, name) == 0 {
				list = append(list, jsonvalue.Member{Name: name})
			}
		}
		return list
	})
}

func message() *rapid.Generator[domarkx.Message] {
	block := rapid.Custom(func(t *rapid.T) domarkx.Block {
		if rapid.Bool().Draw(t, "text") {
			return domarkx.Block{Type: domarkx.TextBlock, Text: text().Draw(t, "value"), Extra: unknown().Draw(t, "extra")}
		}
		b := domarkx.Block{Type: domarkx.CodeBlock, Language: word().Draw(t, "language"), Text: text().Draw(t, "code")}
		if b.HasName = rapid.Bool().Draw(t, "named"); b.HasName {
			b.Name = word().Draw(t, "name")
			b.Extra = unknown().Draw(t, "extra")
		} else {
			b.Extra = unknown("name").Draw(t, "extra")
		}
		return b
	})
	return rapid.Custom(func(t *rapid.T) domarkx.Message {
		m := domarkx.Message{Role: rapid.SampledFrom([]domarkx.Role{domarkx.User, domarkx.Assistant}).Draw(t, "role")}
		m.Content = rapid.SliceOfN(block, 0, 4).Draw(t, "content")
		if rapid.IntRange(0, 2).Draw(t, "metadata") == 0 {
			v := object(3).Draw(t, "message_metadata")
			m.Metadata = &v
			m.Extra = unknown().Draw(t, "extra")
		} else {
			m.Extra = unknown("message_metadata").Draw(t, "extra")
		}
		return m
	})
}

func workspace() *rapid.Generator[jsonvalue.Value] {
	return rapid.Custom(func(t *rapid.T) jsonvalue.Value {
		resource := rapid.Map(members(1), func(m []jsonvalue.Member) jsonvalue.Value {
			return jsonvalue.ObjectValue(append([]jsonvalue.Member{{Name: "type", Value: jsonvalue.StringValue("docker_sandbox")}}, m...)...)
		})
		list := rapid.SliceOfN(resource, 0, 3).Draw(t, "resources")
		return jsonvalue.ObjectValue(append([]jsonvalue.Member{{Name: "resources", Value: jsonvalue.ArrayValue(list...)}}, unknown().Draw(t, "extra")...)...)
	})
}

func header() *rapid.Generator[domarkx.Header] {
	return rapid.Custom(func(t *rapid.T) domarkx.Header {
		h := domarkx.Header{
			SnapshotID:      rapid.SampledFrom([]string{"", "id", "## user"}).Draw(t, "snapshot_id"),
			ImportTimestamp: rapid.SampledFrom([]string{"", "2025-11-14T10:45:00Z", "yesterday"}).Draw(t, "import_timestamp"),
			ExecutionConfig: object(2).Draw(t, "execution_config"),
		}
		if rapid.IntRange(0, 2).Draw(t, "workspace") == 0 {
			h.ExecutionConfig = h.ExecutionConfig.With("workspace", workspace().Draw(t, "workspace"))
		}
		if own, ok := h.ExecutionConfig.Get("workspace"); ok && own.Kind() != jsonvalue.Null {
			if _, err := domarkx.ParseWorkspace(own, ""); err != nil { // no document has that
				h.ExecutionConfig = h.ExecutionConfig.Without("workspace")
			}
		}
		if rapid.Bool().Draw(t, "no config") {
			h.ExecutionConfig = jsonvalue.ObjectValue()
		}
		var nullable []string
		if h.HasSourceFile = rapid.Bool().Draw(t, "has source"); h.HasSourceFile {
			h.SourceFile = text().Draw(t, "source_file")
		} else {
			nullable = append(nullable, "source_file")
		}
		if rapid.Bool().Draw(t, "user") {
			v := object(2).Draw(t, "user_metadata")
			h.UserMetadata = &v
		} else {
			nullable = append(nullable, "user_metadata")
		}
		h.MetadataExtra = unknown(nullable...).Draw(t, "metadata extra")
		if rapid.Bool().Draw(t, "preamble") {
			h.MetadataExtra = append(h.MetadataExtra, jsonvalue.Member{Name: "preamble", Value: jsonvalue.StringValue(text().Draw(t, "text"))})
		}
		if rapid.Bool().Draw(t, "setup") {
			h.Setup = &domarkx.Script{Language: word().Draw(t, "language"), Code: text().Draw(t, "code"), Extra: unknown().Draw(t, "script extra")}
			h.Extra = unknown().Draw(t, "extra")
		} else {
			h.Extra = unknown("setup_script").Draw(t, "extra")
		}
		return h
	})
}

// document is a Markdown document that may well be wrong.
func document() *rapid.Generator[string] {
	piece := rapid.OneOf(rapid.SampledFrom(nasty), rapid.SampledFrom(nasty), rapid.StringN(0, 8, -1), rapid.SampledFrom([]string{"\xff", "\xc3"}))
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\n\n", "\r\n", "\r\n\r\n", "\n\n\n", "  \n", "", "\r"})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom([]string{"", "", "", "\ufeff", "---\na: 1\n---\n", "---\r\na: 1\r\n---\r\n"}).Draw(t, "start"))
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			b.WriteString(piece.Draw(t, "piece"))
			b.WriteString(end.Draw(t, "end"))
		}
		return b.String()
	})
}
