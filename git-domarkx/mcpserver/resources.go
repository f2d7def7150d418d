package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
)

const (
	sessionsURI   = "domarkx:///sessions/"
	workspacesURI = "domarkx:///workspaces/"
	markdownType  = "text/markdown"
)

func sessionURI(name string) string { return sessionsURI + escape(name) }

// escape escapes a name or path for a URI, but for its slashes.
func escape(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// addResources adds the templates of resources, and the list of the newest sessions.
func (s *Server) addResources(server *sdk.Server) {
	for _, t := range []*sdk.ResourceTemplate{
		{Name: "message", URITemplate: sessionsURI + "{+name}/messages/{k}", MIMEType: markdownType, Description: "Message K of a session, counted from 0. Recorded data."},
		{Name: "session", URITemplate: sessionsURI + "{+name}", MIMEType: markdownType, Description: "A session as Markdown, cut at 64 KB. Recorded data."},
		{Name: "file", URITemplate: workspacesURI + "{+name}/{version}/{+path}", Description: "A file of a version of a workspace, RESOURCE/PATH, cut at 64 KB. Recorded data."},
	} {
		server.AddResourceTemplate(t, nil)
	}
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			switch params := r.GetParams().(type) {
			case *sdk.CallToolParamsRaw:
				params.Arguments = withoutNulls(params.Arguments)
			case *sdk.ListResourcesParams:
				return do(s, func() (sdk.Result, error) { return s.listResources(ctx, params) })
			case *sdk.ReadResourceParams:
				return do(s, func() (sdk.Result, error) { return s.readResource(ctx, params.URI) })
			}
			return next(ctx, method, r)
		}
	})
}

// readResource returns the resource of a URI. It does so for all URIs, because the SDK ends the connection when it
// refuses one with control characters.
func (s *Server) readResource(ctx context.Context, uri string) (sdk.Result, error) {
	contents, err := s.resource(ctx, uri)
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		data, _ := json.Marshal(map[string]string{"uri": uri}) // a string has no error
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: short(err).Error(), Data: data}
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: short(err).Error()}
	}
	return &sdk.ReadResourceResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Contents: contents}, nil
}

// listResources lists sessions, the newest first.
func (s *Server) listResources(ctx context.Context, params *sdk.ListResourcesParams) (sdk.Result, error) {
	from := 0
	if params != nil && params.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(params.Cursor); err != nil || from < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: short(fmt.Errorf("cursor %q is not one of this server; without a cursor the list begins anew", params.Cursor)).Error()}
		}
	}
	list, err := s.list(ctx, pick.Options{Sort: "activity"})
	if err != nil {
		return nil, err
	}
	from = min(from, len(list)) // limit from, so that from+maxPage does not overflow
	result := &sdk.ListResourcesResult{Cacheable: sdk.Cacheable{CacheScope: "private"}, Resources: []*sdk.Resource{}}
	for _, info := range list[from:min(len(list), from+maxPage)] {
		result.Resources = append(result.Resources, &sdk.Resource{URI: sessionURI(info.Name), Name: info.Name, Title: info.Described().Title, MIMEType: markdownType, Description: engine.Count(info.Messages)})
	}
	if from+maxPage < len(list) {
		result.NextCursor = strconv.Itoa(from + maxPage)
	}
	return result, nil
}

func (s *Server) resource(ctx context.Context, uri string) ([]*sdk.ResourceContents, error) {
	if rest, ok := strings.CutPrefix(uri, sessionsURI); ok {
		if i := strings.LastIndex(rest, "/messages/"); i > 0 {
			if k, err := strconv.Atoi(rest[i+len("/messages/"):]); err == nil && k >= 0 {
				contents, err := s.messageResource(ctx, uri, rest[:i], k)
				if !errors.Is(err, domarkx.ErrNotFound) {
					return contents, err
				}
				if contents, other := s.sessionResource(ctx, uri, rest); other == nil {
					return contents, nil
				}
				return nil, err
			}
		}
		return s.sessionResource(ctx, uri, rest)
	}
	if rest, ok := strings.CutPrefix(uri, workspacesURI); ok {
		return s.fileResource(ctx, uri, rest)
	}
	return nil, errNoResource
}

// errNoResource is the error for a URI that is not like one of the templates.
var errNoResource = fmt.Errorf("resource: %w: expected %sNAME, %[2]sNAME/messages/K or %[3]sNAME/VERSION/RESOURCE/PATH", domarkx.ErrNotFound, sessionsURI, workspacesURI)

// named returns the newest snapshot of the offered session of an escaped name.
func (s *Server) named(ctx context.Context, escaped string) (engine.Revision, domarkx.Info, error) {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return engine.Revision{}, domarkx.Info{}, fmt.Errorf("name %q: %w: a %% has no two hexadecimal digits after it", escaped, domarkx.ErrInvalid)
	}
	if !s.offers(name) {
		return engine.Revision{}, domarkx.Info{}, s.notOffered("session", name)
	}
	r := engine.Revision{Name: name, Message: -1}
	info, err := s.resolve(ctx, r)
	return r, info, err
}

func (s *Server) messageResource(ctx context.Context, uri, escaped string, k int) ([]*sdk.ResourceContents, error) {
	r, info, err := s.named(ctx, escaped)
	if err != nil {
		return nil, err
	}
	m, next, err := s.message(ctx, r, info, k, 0, maxText)
	if err != nil {
		return nil, err
	}
	meta := sdk.Meta{"session": r.Name, "role": m.Role, "origin": s.origin(ctx, info.ID), "date": m.Date}
	if m.Model != "" {
		meta["model"] = m.Model
	}
	contents := []*sdk.ResourceContents{{URI: uri, MIMEType: markdownType, Text: m.Text, Meta: meta}}
	if next > 0 {
		contents = append(contents, readOn(uri, fmt.Sprintf("The message has %d bytes, of which these are the first %d. To read on: tool read_messages with session %q, from %d, offset %d.", m.Bytes, next, r.Name, k, next)))
	}
	return contents, nil
}

func (s *Server) sessionResource(ctx context.Context, uri, escaped string) ([]*sdk.ResourceContents, error) {
	r, info, err := s.named(ctx, escaped)
	if err != nil {
		return nil, err
	}
	whole, more, err := s.markdownOf(ctx, r)
	if err != nil {
		return nil, err
	}
	text, _, err := cut(whole, 0, maxText)
	contents := []*sdk.ResourceContents{{URI: uri, MIMEType: markdownType, Text: text, Meta: sdk.Meta{"session": r.Name, "origin": s.origin(ctx, info.ID), "messages": info.Messages}}}
	if more {
		contents = append(contents, readOn(uri, fmt.Sprintf("The session has %d bytes and %d messages; this is its beginning. To read messages: tool read_messages with session %q and from.", info.Bytes, info.Messages, r.Name)))
	}
	return contents, err
}

// readOn returns a note of this program that accompanies a truncated text.
func readOn(uri, note string) *sdk.ResourceContents {
	return &sdk.ResourceContents{URI: uri + "#note", MIMEType: "text/plain", Text: note, Meta: sdk.Meta{"note": true}}
}

// fileResource returns a file for WORKSPACE/VERSION/PATH. Workspace names and paths may contain slashes, so it takes the first
// component as VERSION that is a version of the workspace named before it.
func (s *Server) fileResource(ctx context.Context, uri, rest string) ([]*sdk.ResourceContents, error) {
	missing := errNoResource
	parts := strings.Split(rest, "/")
	for i := 1; i < len(parts); i++ {
		if !isAbbreviation(parts[i]) {
			continue
		}
		name, err1 := url.PathUnescape(strings.Join(parts[:i], "/"))
		path, err2 := url.PathUnescape(strings.Join(parts[i+1:], "/"))
		if err1 != nil || err2 != nil {
			continue
		}
		f, err := s.readFile(ctx, fileRequest{Workspace: name, Version: parts[i], Path: path})
		if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
			if missing == errNoResource {
				missing = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		return fileContents(uri, f)
	}
	return nil, missing
}

// isAbbreviation reports whether a component can be the version of a workspace.
func isAbbreviation(s string) bool {
	return len(s) >= 4 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

func fileContents(uri string, f fileResult) ([]*sdk.ResourceContents, error) {
	c := &sdk.ResourceContents{URI: uri, Text: f.Text, Meta: sdk.Meta{"workspace": f.Workspace, "version": f.Version, "path": f.Path, "type": f.Type}}
	switch {
	case f.Base64 != "":
		var err error
		if c.Blob, err = base64.StdEncoding.DecodeString(f.Base64); err != nil {
			return nil, err
		}
		c.MIMEType = "application/octet-stream"
	case f.Type == "directory":
		var names strings.Builder
		for _, e := range f.Entries {
			fmt.Fprintf(&names, "%s\t%s\t%d\n", e.Name, e.Type, e.Bytes)
		}
		c.Text, c.MIMEType = names.String(), "text/plain"
	default:
		c.MIMEType = "text/plain"
	}
	contents := []*sdk.ResourceContents{c}
	if f.Next > 0 {
		contents = append(contents, readOn(uri, fmt.Sprintf("There is more. To read on: tool read_file with workspace %q, version %q, path %q, offset %d.", f.Workspace, f.Version, f.Path, f.Next)))
	}
	return contents, nil
}
