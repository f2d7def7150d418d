package mcpserver_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// read reads a resource. Every content but notes has its URI.
func (c *client) read(uri string) ([]*sdk.ResourceContents, error) {
	c.T.Helper()
	r, err := c.ReadResource(c.T.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return nil, err
	}
	for i, content := range r.Contents {
		if want := uri + []string{"", "#note"}[min(i, 1)]; content.URI != want {
			c.T.Errorf("%s: the content has the URI %s", uri, content.URI)
		}
		if isNote, ok := content.Meta["note"].(bool); ok != (i > 0) || isNote != (i > 0) {
			c.T.Errorf("%s: content %d has %v", uri, i, content.Meta)
		}
	}
	return r.Contents, nil
}

func TestResources(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.ImportFile(c.WriteFile("talk.md", "## user\n\nq\n\n## assistant\n\n```msg-metadata\n{\"model\": \"m-1\"}\n```\n\nanswer\n"))
	c.Appended("team/évil+100%", "named oddly")
	c.Appended("a/messages/0", "named as a message")
	c.Appended("long", strings.Repeat("ä", 40_000))
	binary := "\x00\x01"
	v := c.Version("talk", nil, enginetest.RegularFile("n", "text"), enginetest.RegularFile("bin", binary), enginetest.RegularFile("sp ace#?", "odd"),
		enginetest.RegularFile("large", strings.Repeat("x", 70_000)), enginetest.OtherFile("d", domarkx.Directory, ""), enginetest.RegularFile("d/e", "12345"), enginetest.OtherFile("d/l", domarkx.Symlink, "e"))
	odd := c.Version("beef/cafe", nil, enginetest.RegularFile("n", "hexadecimal name"))
	const sessions, workspaces = "domarkx:///sessions/", "domarkx:///workspaces/"
	for name, test := range map[string]struct {
		uri, kind string
		text      string // beginning of it
		meta      string
		note      string
	}{
		"session":             {sessions + "talk", "text/markdown", "## user\n\nq\n", "map[messages:2 origin:git-domarkx session:talk]", ""},
		"message":             {sessions + "talk/messages/0", "text/markdown", "q", "map[date:2023-11-14T22:13:21Z origin:git-domarkx role:user session:talk]", ""},
		"message of a model":  {sessions + "talk/messages/1", "text/markdown", "answer", "map[date:2023-11-14T22:13:21Z model:m-1 origin:git-domarkx role:assistant session:talk]", ""},
		"escaped name":        {sessions + "team/%C3%A9vil+100%25", "text/markdown", "## user", "map[messages:1 origin:git-domarkx session:team/évil+100%]", ""},
		"name like a message": {sessions + "a/messages/0", "text/markdown", "## user\n\nnamed as", "map[messages:1 origin:git-domarkx session:a/messages/0]", ""},
		"its message":         {sessions + "a/messages/0/messages/0", "text/markdown", "named as", "map[date:2023-11-14T22:13:23Z origin:git-domarkx role:user session:a/messages/0]", ""},
		"long session":        {sessions + "long", "text/markdown", "## user\n\nää", "map[messages:1 origin:git-domarkx session:long]", `The session has 80010 bytes and 1 messages; this is its beginning. To read messages: tool read_messages with session "long" and from.`},
		"long message":        {sessions + "long/messages/0", "text/markdown", "ää", "map[date:2023-11-14T22:13:24Z origin:git-domarkx role:user session:long]", `The message has 80000 bytes, of which these are the first 65536. To read on: tool read_messages with session "long", from 0, offset 65536.`},
		"file":                {workspaces + "talk/" + v.ID + "/notes/n", "text/plain", "text", "map[path:notes/n type:file version:" + v.ID + " workspace:talk]", ""},
		"abbreviated version": {workspaces + "talk/" + v.ID[:8] + "/notes/n", "text/plain", "text", "map[path:notes/n type:file version:" + v.ID + " workspace:talk]", ""},
		"escaped path":        {workspaces + "talk/" + v.ID + "/notes/sp%20ace%23%3F", "text/plain", "odd", "map[path:notes/sp ace#? type:file version:" + v.ID + " workspace:talk]", ""},
		"directory":           {workspaces + "talk/" + v.ID + "/notes/d", "text/plain", "e\tfile\t5\nl\tlink\t0\n", "map[path:notes/d type:directory version:" + v.ID + " workspace:talk]", ""},
		"large file":          {workspaces + "talk/" + v.ID + "/notes/large", "text/plain", "xxx", "map[path:notes/large type:file version:" + v.ID + " workspace:talk]", `There is more. To read on: tool read_file with workspace "talk", version "` + v.ID + `", path "notes/large", offset 65536.`},
		"name like a version": {workspaces + "beef/cafe/" + odd.ID + "/notes/n", "text/plain", "hexadecimal name", "map[path:notes/n type:file version:" + odd.ID + " workspace:beef/cafe]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			contents, err := c.read(test.uri)
			if err != nil {
				t.Fatal(err)
			}
			first := contents[0]
			if first.MIMEType != test.kind || !strings.HasPrefix(first.Text, test.text) || len(first.Text) > 64<<10 || fmt.Sprint(map[string]any(first.Meta)) != test.meta {
				t.Errorf("got %s, %v, %.200q", first.MIMEType, first.Meta, first.Text)
			}
			note := ""
			if len(contents) > 1 {
				note = contents[1].Text
			}
			if note != test.note {
				t.Errorf("the note is %q", note)
			}
		})
	}
	contents, err := c.read(workspaces + "talk/" + v.ID + "/notes/bin")
	if err != nil || string(contents[0].Blob) != binary || contents[0].MIMEType != "application/octet-stream" {
		t.Errorf("binary data: %+v, %v", contents, err)
	}

	for _, uri := range []string{
		sessions, sessions + "none", sessions + "talk/messages/2", sessions + "talk/messages/-1", sessions + "talk/messages/x", sessions + "talk/messages/99999999999999999999",
		sessions + "talk%2", sessions + "%2e%2e/HEAD", "domarkx:///sessions", "domarkx:///", "domarkx:///other/talk", "file:///etc/passwd", "talk", "",
		workspaces + "talk", workspaces + "talk/" + v.ID[:3] + "/notes/n", workspaces + "talk/HEAD/notes/n", workspaces + "none/" + v.ID + "/notes/n",
		workspaces + "talk/" + v.ID + "/notes/../notes/n", workspaces + "talk/" + v.ID + "/notes/n/x", workspaces + "talk/" + v.ID + "/notes/%zz", workspaces + "/" + v.ID + "/notes/n",
	} {
		var wire *jsonrpc.Error
		if contents, err := c.read(uri); err == nil {
			t.Errorf("%q was read: %+v", uri, contents[0])
		} else if !errors.As(err, &wire) || strings.Contains(err.Error(), c.Dir) {
			t.Errorf("%q: %v", uri, err)
		}
	}
	hidden := connect(c.Clone, only("team"))
	for _, uri := range []string{sessions + "talk", sessions + "talk/messages/0", workspaces + "talk/" + v.ID + "/notes/n"} {
		if _, err := hidden.read(uri); err == nil {
			t.Errorf("a pattern does not hide %s", uri)
		}
	}
}

// TestListResources checks that a list of sessions is read page by page, and that a cursor of somebody else is refused.
func TestListResources(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	ask := func(cursor string) (names []string, next string, err error) {
		r, err := c.ListResources(t.Context(), &sdk.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		for _, resource := range r.Resources {
			if names = append(names, resource.Name); resource.MIMEType != "text/markdown" || resource.URI != "domarkx:///sessions/"+resource.Name {
				t.Errorf("got %+v", resource)
			}
		}
		return names, r.NextCursor, nil
	}
	if names, next, err := ask(""); err != nil || len(names) != 0 || next != "" {
		t.Errorf("of an empty repository: %v, %q, %v", names, next, err)
	}
	c.Appended("talk", "x")
	c.copies("talk", "copy/", 104)
	first, next, err := ask("")
	if err != nil || len(first) != 100 || next == "" {
		t.Fatalf("the first page has %d, then %q, %v", len(first), next, err)
	}
	second, end, err := ask(next)
	if all := slices.Compact(slices.Sorted(slices.Values(append(first, second...)))); err != nil || len(all) != 105 || end != "" {
		t.Errorf("both pages have %d, then %q, %v", len(all), end, err)
	}
	if names, next, err := ask("105"); err != nil || len(names) != 0 || next != "" {
		t.Errorf("after the last: %v, %q, %v", names, next, err)
	}
	for _, cursor := range []string{"x", "-1", "1e3", " 1", "99999999999999999999"} {
		if names, _, err := ask(cursor); err == nil {
			t.Errorf("the cursor %q gives %v", cursor, names)
		}
	}
	if names, next, err := ask("9223372036854775807"); err != nil || len(names) != 0 || next != "" {
		t.Errorf("the greatest cursor gives %v, %q, %v", names, next, err)
	}
}
