package scan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/snapshot"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A row is a secret in a commit. It contains only the secret's public prefix, fingerprint and the name that it is assigned to.
type row struct {
	Commit    string `json:"c"`           // the newest snapshot or version that contains it
	Workspace bool   `json:"w,omitempty"` // Commit is a workspace version
	Path      string `json:"p,omitempty"` // path in the commit's tree; "" if the secret is in the commit's message or in a name
	Blob      string `json:"b,omitempty"`
	hit
}

// A hit is a secret in a blob.
type hit struct {
	Rule        string `json:"r"`
	Place       string `json:"a,omitempty"` // within the file: a member of a message
	Line        int    `json:"l,omitempty"` // line in the file, from 1
	Inside      string `json:"o,omitempty"` // part of a container
	Masked      string `json:"m"`
	Key         string `json:"k,omitempty"` // name that the secret is assigned to there; "" if there is none
	Fingerprint string `json:"f"`
}

// isRecord reports whether a file of a commit contains only ids, digests, numbers, and names: in it, only secrets with a
// form of their own count.
func isRecord(commit snapshot.StoredCommit, name string) bool {
	base := path.Base(name)
	if commit.Workspace {
		return base == ".domarkx" // modes and owners
	}
	top, _, _ := strings.Cut(name, "/")
	return top == "deleted" || base == "entries" || base == "header" && top != "attachments" && top != "includes" || name == "source/original" || name == "source/snapshot"
}

// digestSize is the length of a message's digest in a file of entries: 32 bytes in base64.
const digestSize = 43

// isDigest reports whether a finding in a file of entries lies within the digest of a message, the second column. One
// digest in some 300,000 begins like a key.
func isDigest(entries []byte, start, end int) bool {
	line := entries[bytes.LastIndexByte(entries[:start], '\n')+1:]
	id, _, _ := bytes.Cut(line, []byte(" "))
	first := len(entries) - len(line) + len(id) + 1
	return start >= first && end <= first+digestSize && len(line) > len(id)+1+digestSize && line[len(id)+1+digestSize] == ' ' &&
		!bytes.ContainsAny(line[len(id)+1:len(id)+1+digestSize], " \n")
}

// messageOf returns the number of the message that a file of a snapshot belongs to, or -1.
func messageOf(name string) int {
	parts := strings.Split(name, "/")
	if len(parts) != 5 || parts[0] != "conversation" || len(parts[4]) < 3 {
		return -1
	}
	number := 0
	for i, part := range []string{parts[1], parts[2], parts[3], parts[4][:2]} {
		n, err := strconv.Atoi(part)
		if err != nil {
			return -1
		}
		number = number*[]int{1, 32, 32, 16}[i] + n
	}
	return number
}

// describe returns the finding for a row. Its description is the same in all snapshots.
func describe(session string, r row) Finding {
	f := Finding{Session: session, Message: -1, row: r}
	top, rest, _ := strings.Cut(r.Path, "/")
	if !r.Workspace {
		f.Message = messageOf(r.Path)
	}
	switch {
	case r.Path == "" && r.Workspace:
		f.Where = "description of the version"
	case r.Path == "":
		f.Where = "description of the snapshot"
	case r.Workspace:
		f.Where = filePath(r.Path)
	case f.Message >= 0:
		f.Where = cmp.Or(r.Place, "text")
	case top == "snapshot.json":
		f.Where = cmp.Or(r.Place, "front matter")
	case top == "preamble.md" || top == "headers":
		f.Where = "front matter"
	case top == "includes":
		f.Where = "included " + includedPath(rest)
	case top == "source":
		f.Where = "original"
	case top == "attachments":
		f.Where = fmt.Sprintf("attachment %.12s", strings.ReplaceAll(rest, "/", ""))
	default:
		f.Where = r.Path
	}
	if r.Inside != "" {
		f.Where += ", " + r.Inside
	}
	return f
}

// since adds to a finding the snapshot or version if the newest one does not contain it, and the
// line in a file.
func (m *Manager) since(ctx context.Context, tip string, f *Finding) error {
	if f.Workspace {
		f.Where += fmt.Sprintf(" in workspace version %.12s", f.Commit)
		return nil
	}
	if f.Commit == tip {
		return nil
	}
	if f.Path != "" {
		present, err := m.store.HasFile(ctx, tip, f.Path, f.Blob)
		if err != nil || present {
			return err
		}
	}
	f.Where += fmt.Sprintf(" in snapshot %.12s", f.Commit)
	return nil
}

// filePath returns the path of a file in a version, with unescaped names.
func filePath(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = version.FileName(part)
	}
	return strings.Join(parts, "/")
}

// nameOf returns the path of a file or directory of a commit as its user knows it.
func nameOf(c snapshot.StoredCommit, path string) string {
	if c.Workspace {
		return filePath(path)
	}
	if rest, ok := strings.CutPrefix(path, "includes/"); ok {
		return includedPath(rest)
	}
	return path
}

// includedPath returns the path of an included file, given its path in the tree of a snapshot.
func includedPath(name string) string {
	included, err := codec.IncludePath(name)
	if err != nil { // in a snapshot by another program
		return name
	}
	return included
}

// placeIn describes the place of an offset in the JSON of a message or header: the type or language
// of the block, or the path of the member.
func placeIn(data []byte, offset int) string {
	decoder := json.NewDecoder(bytes.NewReader(data))
	type level struct {
		name  string
		array bool
		key   bool
		kind  string // type or language of a content block
	}
	var stack []level
	for decoder.InputOffset() <= int64(offset) {
		token, err := decoder.Token()
		if err != nil {
			return ""
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 {
			top := &stack[n-1]
			switch name, ok := token.(string); {
			case top.array:
			case top.key && ok:
				top.name, top.key = name, false
				continue
			default:
				top.key = true
				if ok && (top.name == "type" || top.name == "language") {
					top.kind = name
				}
			}
		}
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{array: delim == '[', key: delim == '{'})
		}
	}
	if len(stack) >= 3 && stack[0].name == "content" && stack[1].array {
		if kind := stack[2].kind; kind != "" && kind != "code" {
			return kind
		}
		return "text"
	}
	var names []string
	for _, l := range stack[:min(len(stack), 4)] {
		if !l.array && l.name != "" {
			names = append(names, l.name)
		}
	}
	return strings.Join(names, ".")
}
