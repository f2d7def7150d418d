//go:build linux

package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/mcp"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// FuzzTools: a server's list stays within the limits, and tools.json has the same.
func FuzzTools(f *testing.F) {
	f.Add(`{"tools": [{"name": "a", "description": "x\u202e", "inputSchema": {"type": "object", "properties": {"p": {"description": "q"}}}}]}`)
	f.Add(manyTools(3))
	f.Fuzz(func(t *testing.T, text string) {
		var listed sdk.ListToolsResult
		if json.Unmarshal([]byte(text), &listed) != nil {
			return
		}
		tools, stored := mcp.ToolsFrom(listed.Tools)
		v, err := jsonvalue.ParseValue(stored)
		if err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		list, _ := v.Get("tools")
		if len(list.Items()) != len(tools) {
			t.Fatalf("%d tools, %d stored", len(tools), len(list.Items()))
		}
		for i, tool := range tools {
			name, _ := list.Items()[i].Get("name")
			schema, _ := list.Items()[i].Get("inputSchema")
			if name.Text() != tool.Name || !schema.Equal(tool.Schema) || tool.Name == "" || tool.Description == "" || len(tool.Description) > 4<<10 || !utf8.ValidString(tool.Description) || tool.Schema.Kind() != jsonvalue.Object {
				t.Errorf("%+v, stored as %s", tool, list.Items()[i].JSON())
			}
		}
	})
}

// FuzzResult: a server's answer becomes a result within the limit, or an error.
func FuzzResult(f *testing.F) {
	f.Add(`{"content": [{"type": "text", "text": "x"}], "structuredContent": 1}`)
	f.Add(`{"isError": true, "content": [{"text": "x"}]}`)
	f.Add(`{"content": {"a": 1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		texts := []string{text}
		if len(text) < 100 && strings.Contains(text, "x") {
			texts = append(texts, strings.ReplaceAll(text, "x", strings.Repeat(`é\n`, 1<<18/(1+strings.Count(text, "x")))))
		}
		for _, raw := range texts {
			r, err := mcp.ResultFrom(t.TempDir(), []byte(raw))
			if err != nil {
				continue
			}
			if size := len(r.Value.JSON()); size > toolresult.Limit {
				t.Errorf("a result of %d bytes", size)
			}
			if r.Attachment != nil {
				readAll(t, r)
			}
		}
	})
}
