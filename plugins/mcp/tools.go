package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Limits of a server's tools.
const (
	maxTools       = 200
	maxToolName    = 128     // bytes
	maxDescription = 4 << 10 // bytes
	maxSchema      = 20 << 10
	maxSchemaDepth = 100
)

// A toolList holds the tools of a server in the order of their names.
type toolList struct {
	tools []domarkx.Tool
	text  []byte // the content of tools.json
}

// newToolList converts the tools that a server listed. It leaves out tools that it cannot take and
// passes the reasons to warn.
func newToolList(listed []*sdk.Tool, redact func(string) string, warn func(string)) toolList {
	var tools []domarkx.Tool
	seen := map[string]bool{}
	for _, t := range listed {
		if t == nil {
			continue
		}
		name := redact(t.Name)
		reason := ""
		schema, err := schemaOf(t.InputSchema, redact)
		switch {
		case !isToolName(name):
			reason = fmt.Sprintf("its name is none of at most %d letters, digits, \"_\", \"-\", \".\" and \"/\"", maxToolName)
		case seen[name]:
			reason = "another one has its name"
		case err != nil:
			reason = err.Error()
		}
		if reason != "" {
			warn(fmt.Sprintf("tool %.80q of the server is left out: %s", name, reason))
			continue
		}
		seen[name] = true
		description := plainText(redact(t.Description))
		if len(description) > maxDescription {
			description = shorten(description, maxDescription-len(cut)) + cut
		}
		if description == "" {
			description = name
		}
		tools = append(tools, domarkx.Tool{Name: name, Description: description, Schema: schema})
	}
	slices.SortFunc(tools, func(a, b domarkx.Tool) int { return strings.Compare(a.Name, b.Name) })
	return toolList{tools, encodeTools(tools)}
}

// cut ends a text that was shortened.
const cut = "…"

func isToolName(name string) bool {
	wrong := func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./", r)
	}
	return name != "" && len(name) <= maxToolName && !strings.ContainsFunc(name, wrong)
}

// schemaOf converts the schema of a tool's arguments.
func schemaOf(input any, redact func(string) string) (jsonvalue.Value, error) {
	if input == nil {
		input = map[string]any{"type": "object"}
	}
	data, err := json.Marshal(input)
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("its schema cannot be read: %w", err)
	}
	if len(data) > maxSchema {
		return jsonvalue.Value{}, fmt.Errorf("its schema has %d bytes, expected at most %d", len(data), maxSchema)
	}
	schema, err := jsonvalue.ParseValue(data)
	if err != nil {
		return schema, fmt.Errorf("its schema cannot be read: %w", err)
	}
	if schema.Kind() != jsonvalue.Object || schema.Depth() > maxSchemaDepth {
		return schema, fmt.Errorf("its schema is no object, or nested deeper than %d", maxSchemaDepth)
	}
	return plainTexts(redacted(schema, redact)), nil
}

// plainTexts returns a schema with plain texts for people and models.
func plainTexts(schema jsonvalue.Value) jsonvalue.Value {
	return mapTexts(schema, "", func(name string) string { return name }, func(member, text string) string {
		if member == "description" || member == "title" {
			return plainText(text)
		}
		return text
	})
}

// plainText removes what hides or reorders text: control and format characters, except line ends
// and tabs.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// shorten returns the beginning of a text, at most n bytes and whole code points.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// redacted returns a value with every text in it redacted.
func redacted(v jsonvalue.Value, redact func(string) string) jsonvalue.Value {
	return mapTexts(v, "", redact, func(_, text string) string { return redact(text) })
}

// mapTexts returns a value with the names of its members and its texts changed. change gets the name of the member whose value
// the text is, "" for none.
func mapTexts(v jsonvalue.Value, member string, name func(string) string, change func(member, text string) string) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.String:
		if s := change(member, v.Text()); s != v.Text() {
			return jsonvalue.StringValue(s)
		}
	case jsonvalue.Array:
		items := make([]jsonvalue.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = mapTexts(item, "", name, change)
		}
		return jsonvalue.ArrayValue(items...)
	case jsonvalue.Object:
		members := make([]jsonvalue.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = jsonvalue.Member{Name: name(m.Name), Value: mapTexts(m.Value, m.Name, name, change)}
		}
		return jsonvalue.ObjectValue(members...)
	}
	return v
}

// encodeTools returns the content of tools.json: an object with the array "tools", a line for each
// tool, as a server lists them.
func encodeTools(tools []domarkx.Tool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"tools": [`)
	for i, t := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		line := jsonvalue.ObjectOf("name", t.Name, "description", t.Description, "inputSchema", t.Schema)
		b.WriteString("\n" + line.JSON())
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}
