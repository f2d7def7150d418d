package mcpserver_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

func TestWorkspaceLog(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("secret", "x")
	c.Appended("work", "y")
	id := domarkx.NewID(7, c.Now)
	var ids []string
	for i := range 5 {
		call := &domarkx.CallRecord{Session: []string{"work", "secret"}[i%2], Message: id, Resource: "notes", Tool: "write"}
		ids = append(ids, c.Version("work", call, enginetest.RegularFile("n", fmt.Sprint(i))).ID)
	}
	for name, test := range map[string]struct {
		args  arguments
		first int // version
		count int
		next  int
	}{
		"all":            {arguments{"workspace": "work"}, 4, 5, 0},
		"a page":         {arguments{"workspace": "work", "count": 2}, 4, 2, 2},
		"the next page":  {arguments{"workspace": "work", "from": 2, "count": 2}, 2, 2, 4},
		"the last page":  {arguments{"workspace": "work", "from": 4, "count": 2}, 0, 1, 0},
		"exactly all":    {arguments{"workspace": "work", "count": 5}, 4, 5, 0},
		"after the last": {arguments{"workspace": "work", "from": 9}, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got versions
			c.call("workspace_log", test.args, &got)
			if got.Workspace != "work" || len(got.Versions) != test.count || got.Next != test.next {
				t.Fatalf("got %+v", got)
			}
			if test.count > 0 && got.Versions[0].Version != ids[test.first] {
				t.Errorf("the first is %s, expected version %d", got.Versions[0].Version, test.first)
			}
		})
	}
	var got versions
	c.call("workspace_log", arguments{"workspace": "work", "count": 1}, &got)
	if v := got.Versions[0]; v.Operation != "call" || v.Session != "work" || v.Message != id.String() || strings.Join(v.Resources, " ") != "notes" || v.Date == "" {
		t.Errorf("got %+v", v)
	}
	c.refuses("workspace_log", arguments{"workspace": "none"}, "not found")
	c.refuses("workspace_log", arguments{"workspace": "work", "from": -1}, "from is negative")

	// With a pattern, the sessions that it hides are not named.
	c = connect(c.Clone, only("work"))
	c.call("workspace_log", arguments{"workspace": "work"}, &got)
	for i, v := range got.Versions {
		if v.Session != "" && v.Session != "work" || (v.Session == "") != (v.Message == "") {
			t.Errorf("version %d names %q and %q", i, v.Session, v.Message)
		}
	}
}

// TestWorkspaceOfAnotherName checks that a session's name stands for the workspace that it works in.
func TestWorkspaceOfAnotherName(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("talk", "x")
	if err := local.Attach(t.Context(), c.Settings, "talk", "shop"); err != nil {
		t.Fatal(err)
	}
	v := c.Version("shop", nil, enginetest.RegularFile("n", "text"))
	var log versions
	if c.call("workspace_log", arguments{"workspace": "talk"}, &log); log.Workspace != "shop" || len(log.Versions) != 1 {
		t.Errorf("got %+v", log)
	}
	var got file
	c.call("read_file", arguments{"workspace": "talk", "path": "notes/n"}, &got)
	if got.Workspace != "shop" || got.Version != v.ID || got.Text != "text" {
		t.Errorf("got %+v", got)
	}
}

func TestReadFile(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	old := c.Version("work", nil, enginetest.RegularFile("n", "old"))
	binary := string([]byte{0x89, 'P', 'N', 'G', 0, 1, 2})
	v := c.Version("work", nil,
		enginetest.RegularFile("n", "new\n"), enginetest.RegularFile("empty", ""), enginetest.RegularFile("binary", binary),
		enginetest.RegularFile("latin", "gr\xfc\xdfe"), enginetest.RegularFile("ends in a character", "x\xe2\x82"), enginetest.RegularFile("ends of characters", "\x80\x81x"), enginetest.RegularFile("umlaut", "xäx"),
		enginetest.OtherFile("pipe", domarkx.Fifo, ""), enginetest.OtherFile("link", domarkx.Symlink, "../../etc/passwd"),
		enginetest.OtherFile("d", domarkx.Directory, ""), enginetest.RegularFile("d/deep", "deep"), enginetest.RegularFile("d/bad\xff name", "x"),
	)
	for name, test := range map[string]struct {
		args arguments
		want file
	}{
		"newest":                         {arguments{"path": "notes/n"}, file{Path: "notes/n", Type: "file", Bytes: 4, Text: "new\n"}},
		"by version":                     {arguments{"path": "notes/n", "version": old.ID}, file{Version: old.ID, Path: "notes/n", Type: "file", Bytes: 3, Text: "old"}},
		"by its start":                   {arguments{"path": "notes/n", "version": old.ID[:7]}, file{Version: old.ID, Path: "notes/n", Type: "file", Bytes: 3, Text: "old"}},
		"slashes":                        {arguments{"path": "/notes/d/deep/"}, file{Path: "notes/d/deep", Type: "file", Bytes: 4, Text: "deep"}},
		"from a byte":                    {arguments{"path": "notes/n", "offset": 2}, file{Path: "notes/n", Type: "file", Bytes: 4, Text: "w\n"}},
		"from the end":                   {arguments{"path": "notes/n", "offset": 4}, file{Path: "notes/n", Type: "file", Bytes: 4}},
		"empty":                          {arguments{"path": "notes/empty"}, file{Path: "notes/empty", Type: "file"}},
		"link, not its target":           {arguments{"path": "notes/link"}, file{Path: "notes/link", Type: "link", Bytes: 16, Text: "../../etc/passwd"}},
		"FIFO":                           {arguments{"path": "notes/pipe"}, file{Path: "notes/pipe", Type: "FIFO"}},
		"binary":                         {arguments{"path": "notes/binary"}, file{Path: "notes/binary", Type: "file", Bytes: 7, Base64: base64.StdEncoding.EncodeToString([]byte(binary))}},
		"not UTF-8":                      {arguments{"path": "notes/latin"}, file{Path: "notes/latin", Type: "file", Bytes: 5, Base64: "Z3L832U="}},
		"part of a character at the end": {arguments{"path": "notes/ends in a character"}, file{Path: "notes/ends in a character", Type: "file", Bytes: 3, Base64: "eOKC"}},
		"ends of characters alone":       {arguments{"path": "notes/ends of characters"}, file{Path: "notes/ends of characters", Type: "file", Bytes: 3, Base64: "gIF4"}},
		"from within a character":        {arguments{"path": "notes/umlaut", "offset": 2}, file{Path: "notes/umlaut", Type: "file", Bytes: 4, Base64: "pA==", Next: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			test.args["workspace"] = "work"
			if test.want.Workspace = "work"; test.want.Version == "" {
				test.want.Version = v.ID
			}
			var got file
			c.call("read_file", test.args, &got)
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("got\n%+v, expected\n%+v", got, test.want)
			}
		})
	}
	for name, test := range map[string]struct {
		args arguments
		want string
	}{
		"another workspace":     {arguments{"workspace": "none"}, "not found"},
		"upwards":               {arguments{"path": "notes/d/../n"}, "not found"},
		"out of the version":    {arguments{"path": "../HEAD"}, "not found"},
		"another resource":      {arguments{"path": "shell/n"}, "not found"},
		"below a file":          {arguments{"path": "notes/n/x"}, "not found"},
		"through a link":        {arguments{"path": "notes/link/x"}, "not found"},
		"missing":               {arguments{"path": "notes/d/none"}, "not found"},
		"beyond the resources":  {arguments{"path": "", "offset": 2}, "the directory has 1 entries"},
		"a short version":       {arguments{"version": old.ID[:3]}, old.ID[:3]},
		"another object":        {arguments{"version": strings.Repeat("0", 40)}, "not found in this workspace; workspace_log lists"},
		"a ref":                 {arguments{"version": "HEAD"}, "HEAD"},
		"version and message":   {arguments{"version": old.ID, "index": 1}, "a version or the number"},
		"negative message":      {arguments{"index": -1}, "a version or the number"},
		"message of no session": {arguments{"index": 1}, "not found"},
		"negative offset":       {arguments{"path": "notes/n", "offset": -1}, "offset is negative"},
		"beyond the end":        {arguments{"path": "notes/n", "offset": 5}, "the file has 4 bytes"},
		"beyond the last entry": {arguments{"path": "notes", "offset": 11}, "the directory has 10 entries"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.T = t; test.args["workspace"] == nil {
				test.args["workspace"] = "work"
			}
			c.refuses("read_file", test.args, test.want)
		})
	}
	c.T = t
	var got file
	c.call("read_file", arguments{"workspace": "work"}, &got)
	if got.Type != "directory" || len(got.Entries) != 1 || got.Entries[0].Name != "notes" || got.Entries[0].Type != "directory" {
		t.Errorf("the version has %+v", got)
	}
	got = file{}
	c.call("read_file", arguments{"workspace": "work", "path": "notes/d"}, &got)
	if len(got.Entries) != 2 || got.Entries[0].Name != "bad\uFFFD name" || got.Entries[1].Name != "deep" || got.Entries[1].Bytes != 4 || got.Entries[1].Type != "file" {
		t.Errorf("the directory has %+v", got)
	}
}

// TestReadFileOn reads a large text, a large directory and large binary data, as the answers say how to go on.
func TestReadFileOn(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	text, data := "x"+strings.Repeat("ä€😀", 20_000), strings.Repeat("\x00\xff\x01", 50_000)
	files := []enginetest.VersionFile{enginetest.RegularFile("text", text), enginetest.RegularFile("data", data), enginetest.OtherFile("d", domarkx.Directory, "")}
	for i := range 205 {
		files = append(files, enginetest.RegularFile(fmt.Sprintf("d/%03d", i), ""))
	}
	c.Version("work", nil, files...)
	read := func(path string, use func(file)) (parts int) {
		for next := 0; parts == 0 || next > 0; parts++ {
			if parts == 10 {
				t.Fatalf("%s has no end", path)
			}
			var got file
			c.call("read_file", arguments{"workspace": "work", "path": path, "offset": next}, &got)
			use(got)
			next = got.Next
		}
		return parts
	}
	var whole strings.Builder
	parts := read("notes/text", func(f file) {
		if strings.Contains(f.Text, "\uFFFD") || f.Base64 != "" || len(f.Text) > 64<<10 {
			t.Errorf("a part of the text has a broken character, is not text, or has %d bytes", len(f.Text))
		}
		whole.WriteString(f.Text)
	})
	if whole.String() != text || parts != 3 {
		t.Errorf("%d parts of the text have %d bytes, expected %d", parts, whole.Len(), len(text))
	}
	whole.Reset()
	parts = read("notes/data", func(f file) {
		part, err := base64.StdEncoding.DecodeString(f.Base64)
		if err != nil || f.Text != "" {
			t.Error(err, f.Text)
		}
		whole.Write(part)
	})
	if whole.String() != data || parts != 3 {
		t.Errorf("%d parts of the data have %d bytes, expected %d", parts, whole.Len(), len(data))
	}
	n := 0
	parts = read("notes/d", func(f file) {
		for _, e := range f.Entries {
			if want := fmt.Sprintf("%03d", n); e.Name != want {
				t.Errorf("entry %d is %q", n, e.Name)
			}
			n++
		}
	})
	if n != 205 || parts != 3 {
		t.Errorf("%d parts of the directory have %d entries", parts, n)
	}
}

// TestReadFileOfMessage checks that a file is that of the version which a message left, and that a
// pattern hides it.
func TestReadFileOfMessage(t *testing.T) {
	clone := enginetest.New(t)
	clone.Trusted("talk", enginetest.NotesConfig+"\n## user\n\ndo\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "n", "text": "as left"}`))
	s := serverOf(clone)
	if _, err := s.Turns.Run(t.Context(), turns.RunRequest{Name: "talk"}); err != nil {
		t.Fatal(err)
	}
	c := connect(clone, writing)
	var fork written
	c.call("fork", arguments{"session": "talk", "new": "other"}, &fork)
	var got file
	c.call("read_file", arguments{"workspace": "talk", "index": 1, "path": "notes/n"}, &got)
	if got.Text != "as left" || got.Workspace != "talk" {
		t.Errorf("got %+v", got)
	}
	var m messages
	c.call("read_messages", arguments{"session": "talk", "from": 1}, &m)
	if m.Messages[0].Version != got.Version {
		t.Errorf("the message left %q, the file is of %q", m.Messages[0].Version, got.Version)
	}
	c.refuses("read_file", arguments{"workspace": "talk", "index": 9, "path": "notes/n"}, "message 9")
	hidden := connect(clone, func(s *mcpserver.Server) { s.Pattern = "other" })
	var log versions
	if hidden.call("workspace_log", arguments{"workspace": "other"}, &log); len(log.Versions) == 0 || strings.Contains(fmt.Sprint(log), "talk") {
		t.Errorf("the fork's workspace has %+v", log)
	}
	hidden.refuses("read_file", arguments{"workspace": "talk", "index": 1, "path": "notes/n"}, "not found")
}
