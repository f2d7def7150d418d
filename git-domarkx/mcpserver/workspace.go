package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

type logRequest struct {
	Workspace string `json:"workspace" jsonschema:"the workspace, by default of the name of its session"`
	From      int    `json:"from,omitempty" jsonschema:"how many versions to skip; next of the page before"`
	Count     int    `json:"count,omitempty" jsonschema:"how many versions to list, at most 100 and by default 20"`
}

type logResult struct {
	Workspace string         `json:"workspace"`
	Versions  []versionEntry `json:"versions"`
	Next      int            `json:"next,omitempty" jsonschema:"pass it as from to go on; absent on the last page"`
}

type versionEntry struct {
	Version   string   `json:"version"`
	Date      string   `json:"date"`
	Operation string   `json:"operation" jsonschema:"what made it: call, change, rewind and so on"`
	Subject   string   `json:"subject"`
	Session   string   `json:"session,omitempty" jsonschema:"the session whose call made it"`
	Message   string   `json:"message_id,omitempty"`
	Resources []string `json:"resources" jsonschema:"the first components of the paths of its files"`
	Expired   string   `json:"expired,omitempty" jsonschema:"when and why its files were removed"`
}

const usualVersions = 20

func (s *Server) workspaceLog(ctx context.Context, r logRequest) (logResult, error) {
	count, err := page(r.Count, usualVersions)
	if err != nil {
		return logResult{}, err
	}
	if r.From < 0 {
		return logResult{}, errors.New("from is negative")
	}
	newest, err := s.workspace(ctx, r.Workspace)
	if err != nil {
		return logResult{}, err
	}
	result, n := logResult{Workspace: newest.Workspace, Versions: []versionEntry{}}, 0
	for v, err := range s.Store.Versions(ctx, newest.ID) {
		if err != nil {
			return result, err
		}
		n++
		if n <= r.From {
			continue
		}
		if len(result.Versions) == count {
			result.Next = r.From + count
			break
		}
		whole, err := s.Store.VersionOrStub(ctx, v.ID)
		if err != nil {
			return result, err
		}
		entry := versionEntry{Version: v.ID, Date: date(v.Date), Operation: v.Operation, Subject: v.Subject, Resources: []string{}}
		if v.Call != nil && s.offers(v.Call.Session) {
			entry.Session, entry.Message = v.Call.Session, v.Call.Message.String()
		} else if s.Pattern != "" {
			entry.Subject = v.Operation // the subject may name a session that is not offered, such as the one that was forked
		}
		if v.Expired != nil {
			entry.Expired = v.Expired.String()
		}
		for _, resource := range whole.Resources {
			entry.Resources = append(entry.Resources, resource.ID)
		}
		result.Versions = append(result.Versions, entry)
	}
	return result, nil
}

// workspace returns the newest version of the workspace called name or, if there is none, of the workspace
// that the session called name uses. It returns domarkx.ErrNotFound for a name that is not offered.
func (s *Server) workspace(ctx context.Context, name string) (domarkx.Version, error) {
	if !s.offers(name) {
		return domarkx.Version{}, s.notOffered("workspace", name)
	}
	v, err := s.Store.WorkspaceTip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		if other, e := s.Sessions.WorkspaceOf(ctx, name); e == nil && other != name {
			name = other
			v, err = s.Store.WorkspaceTip(ctx, other)
		}
	}
	if errors.Is(err, domarkx.ErrNotFound) {
		if missing := s.exists(ctx, name); missing == nil {
			err = fmt.Errorf("workspace %q: %w: the session of that name has made no calls here", name, domarkx.ErrNotFound)
		} else if s.Pattern != "" {
			err = s.notOffered("workspace", name)
		}
	}
	v.Workspace = name
	return v, err
}

type fileRequest struct {
	Workspace string `json:"workspace" jsonschema:"the workspace, by default of the name of its session"`
	Version   string `json:"version,omitempty" jsonschema:"a version, at least 4 digits of it; the newest by default"`
	Index     *int   `json:"index,omitempty" jsonschema:"in place of a version: as message K of the session of that name left it"`
	Path      string `json:"path,omitempty" jsonschema:"RESOURCE/PATH; a directory is listed"`
	Offset    int    `json:"offset,omitempty" jsonschema:"how many bytes, or entries of a directory, to skip; next of the part before"`
}

type fileResult struct {
	Workspace string      `json:"workspace"`
	Version   string      `json:"version"`
	Path      string      `json:"path"`
	Type      string      `json:"type" jsonschema:"file, directory or link"`
	Bytes     int64       `json:"bytes,omitempty" jsonschema:"the size of the file"`
	Text      string      `json:"text,omitempty" jsonschema:"the content of the file, or the target of the link; recorded data"`
	Base64    string      `json:"base64,omitempty" jsonschema:"the content, if it is not text"`
	Entries   []fileEntry `json:"entries,omitempty" jsonschema:"the files of a directory"`
	Next      int64       `json:"next,omitempty" jsonschema:"pass it as offset to go on; absent at the end"`
}

type fileEntry struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Bytes int64  `json:"bytes,omitempty"`
}

func (s *Server) readFile(ctx context.Context, r fileRequest) (fileResult, error) {
	if r.Offset < 0 {
		return fileResult{}, errors.New("offset is negative")
	}
	v, err := s.version(ctx, r)
	if err != nil {
		return fileResult{}, err
	}
	result := fileResult{Workspace: v.Workspace, Version: v.ID, Path: strings.Trim(r.Path, "/")}
	if result.Path == "" {
		result.Type = "directory"
		for _, resource := range v.Resources {
			result.Entries = append(result.Entries, fileEntry{Name: resource.ID, Type: "directory"})
		}
		return result, result.page(r.Offset)
	}
	f, err := view.File(ctx, s.Store, v, result.Path)
	if err != nil {
		return result, err
	}
	switch f.Type {
	case domarkx.Directory:
		return result, s.readDirectory(ctx, &result, f.ID, r.Offset)
	case domarkx.Regular, domarkx.Symlink:
		return result, s.readContent(ctx, &result, f, int64(r.Offset))
	}
	result.Type = f.Type.String()
	return result, nil
}

// version returns the version of a workspace that a client names.
func (s *Server) version(ctx context.Context, r fileRequest) (domarkx.Version, error) {
	if r.Index != nil {
		return s.versionAt(ctx, r)
	}
	newest, err := s.workspace(ctx, r.Workspace)
	if err != nil {
		return newest, err
	}
	v := newest
	if r.Version != "" {
		v, err = s.Store.FindVersion(ctx, newest.ID, r.Version)
		if errors.Is(err, domarkx.ErrNotFound) {
			err = fmt.Errorf("version %q: %w in this workspace; workspace_log lists its versions", r.Version, domarkx.ErrNotFound)
		}
	}
	if err != nil {
		return v, err
	}
	v, err = s.Store.Version(ctx, v.ID)
	v.Workspace = newest.Workspace
	return v, err
}

// versionAt returns the version that a message left.
func (s *Server) versionAt(ctx context.Context, r fileRequest) (domarkx.Version, error) {
	if r.Version != "" || *r.Index < 0 {
		return domarkx.Version{}, errors.New("expected a version or the number of a message")
	}
	if !s.offers(r.Workspace) {
		return domarkx.Version{}, s.notOffered("session", r.Workspace)
	}
	info, err := s.resolve(ctx, engine.Revision{Name: r.Workspace, Message: *r.Index})
	if err != nil {
		return domarkx.Version{}, err
	}
	link, err := s.Sessions.LinkAt(ctx, info.ID, *r.Index)
	if err == nil && link == "" {
		err = fmt.Errorf("version that message %d left: %w: neither it nor a message before it made a call", *r.Index, domarkx.ErrNotFound)
	}
	if err != nil {
		return domarkx.Version{}, err
	}
	v, err := s.Store.Version(ctx, link)
	if err != nil {
		return v, err
	}
	newest, err := s.workspace(ctx, r.Workspace)
	v.Workspace = newest.Workspace
	return v, err
}

func (s *Server) readDirectory(ctx context.Context, result *fileResult, id string, from int) error {
	result.Type = "directory"
	files, err := s.Store.Directory(ctx, id)
	if err != nil {
		return err
	}
	for _, f := range files {
		result.Entries = append(result.Entries, fileEntry{Name: strings.ToValidUTF8(f.Name, "\uFFFD"), Type: typeName(f.Type), Bytes: f.Size})
	}
	return result.page(from)
}

// page reduces the entries of a directory to those of a page.
func (r *fileResult) page(from int) error {
	n := len(r.Entries)
	if from > n {
		return fmt.Errorf("offset %d: the directory has %d entries", from, n)
	}
	to := min(n, from+maxPage)
	if r.Entries = r.Entries[from:to]; to < n {
		r.Next = int64(to)
	}
	return nil
}

func typeName(t domarkx.FileType) string {
	switch t {
	case domarkx.Regular:
		return "file"
	case domarkx.Symlink:
		return "link"
	}
	return t.String()
}

// readContent reads at most maxText bytes of a file, from an offset on.
func (s *Server) readContent(ctx context.Context, result *fileResult, f domarkx.File, offset int64) error {
	result.Type = typeName(f.Type)
	c, err := s.Store.Content(ctx, f.ID)
	if err != nil {
		return err
	}
	defer c.Close()
	result.Bytes = c.Size()
	if offset > result.Bytes {
		return fmt.Errorf("offset %d: the file has %d bytes", offset, result.Bytes)
	}
	data := make([]byte, min(result.Bytes-offset, maxText))
	if _, err := c.ReadAt(data, offset); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	text := data
	if offset+int64(len(data)) < result.Bytes {
		text = data[:len(data)-format.Partial(data)]
	}
	if isText(text) {
		data, result.Text = text, string(text)
	} else {
		if rest := continuation(text); offset > 0 && isText(text[rest:]) {
			data = data[:rest] // what follows is text again
		}
		result.Base64 = base64.StdEncoding.EncodeToString(data)
	}
	if end := offset + int64(len(data)); end < result.Bytes {
		result.Next = end
	}
	return nil
}

// isText reports whether data is UTF-8 without NUL. Other data would not survive in JSON.
func isText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) }

// continuation returns the number of bytes at the beginning that are the end of a character.
func continuation(data []byte) int {
	n := 0
	for n < len(data) && n < utf8.UTFMax-1 && !utf8.RuneStart(data[n]) {
		n++
	}
	return n
}
