package markdown

import (
	"bytes"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// The words in the info strings of blocks that are not ordinary code.
const (
	sessionConfig   = "session-config"
	setupScript     = "setup-script"
	workspaceConfig = "workspace-config"
	messageMetadata = "msg-metadata"
	wholeMessage    = "domarkx-message"
	wholeSnapshot   = "domarkx-snapshot"
)

// Nesting depths, in the snapshot document, at which the objects of a message and a header lie. The
// limit for nesting also applies here, so these count towards it.
const (
	depthMessage         = 2 // conversation, and the item in it
	depthMessageMetadata = 3
	depthExecutionConfig = 1
	depthWorkspace       = 2
	depthUserMetadata    = 2 // metadata, user_metadata
)

// message reads one message. It calls workspace with each workspace-config block, which is not part of
// the content. workspace is nil if such blocks are not allowed.
func (s *source) message(sec section, workspace func(segment) error) (domarkx.Message, error) {
	m := domarkx.Message{Role: domarkx.Role(sec.role)}
	if sec.role == systemMessage {
		m.Role = domarkx.User
	}
	segments, err := s.content(sec, workspace)
	if err != nil {
		return m, err
	}
	if len(segments) > 0 && segments[0].is(messageMetadata) {
		metadata, err := s.object(segments[0], messageMetadata, depthMessageMetadata)
		if err != nil {
			return m, err
		}
		m.Metadata = &metadata
		segments = segments[1:]
	} else if len(segments) > 0 && segments[0].is(wholeMessage) {
		if m, err = s.wholeMessage(segments[0], m.Role); err != nil {
			return m, err
		}
		segments = segments[1:]
	}
	if sec.role == systemMessage {
		m.Metadata = systemMetadata(m.Metadata)
	}
	m.Content = append(m.Content, s.blocks(segments)...)
	return m, nil
}

// systemMetadata marks the metadata of a message whose heading is system_message.
func systemMetadata(metadata *jsonvalue.Value) *jsonvalue.Value {
	object := jsonvalue.ObjectValue()
	if metadata != nil {
		object = *metadata
	}
	if _, ok := object.Get("role"); !ok {
		object = object.With("role", jsonvalue.StringValue("system"))
	}
	return &object
}

// content returns the segments of a message, except for blank ones and workspace-config blocks.
func (s *source) content(sec section, workspace func(segment) error) ([]segment, error) {
	segments := make([]segment, 0, len(sec.segments))
	for _, seg := range sec.segments {
		switch {
		case seg.is(workspaceConfig):
			if err := workspace(seg); err != nil {
				return nil, err
			}
		case seg.code || seg.quotes > 0 || seg.other:
			segments = append(segments, seg)
		}
	}
	return segments, nil
}

// wholeMessage reads a block that contains a message as a JSON object.
func (s *source) wholeMessage(seg segment, role domarkx.Role) (domarkx.Message, error) {
	object, err := s.object(seg, wholeMessage, depthMessage)
	if err != nil {
		return domarkx.Message{}, err
	}
	m, err := domarkx.ParseMessage(object, "")
	if err != nil {
		return m, s.errorIn(seg, wholeMessage+" block", domarkx.Locate(err, []byte(s.code(seg))))
	}
	if m.Role != role {
		return m, s.errorAt(seg.start, "%s block: role is %q, expected %q as in the heading", wholeMessage, m.Role, role)
	}
	return m, nil
}

// object reads a block that contains a JSON object, at the given depth in the document.
func (s *source) object(seg segment, what string, depth int) (jsonvalue.Value, error) {
	v, err := jsonvalue.ParseValue([]byte(s.code(seg)))
	if err == nil && v.Kind() != jsonvalue.Object {
		err = &syntax.Error{Line: 1, Column: 1, Msg: "is not a JSON object"}
	}
	if err == nil && v.Depth() > jsonvalue.MaxDepth-depth {
		err = &syntax.Error{Line: 1, Column: 1, Msg: "is nested too deep"}
	}
	if err != nil {
		return v, s.errorIn(seg, what+" block", err)
	}
	return v, nil
}

// blocks converts segments to content blocks. If all the Markdown is one blockquote (the older
// spelling), the text is the quoted text.
func (s *source) blocks(segments []segment) []domarkx.Block {
	blocks := make([]domarkx.Block, 0, len(segments))
	quotes, other := 0, false
	for _, seg := range segments {
		quotes += seg.quotes
		other = other || seg.other
	}
	for i := 0; i < len(segments); i++ {
		seg := segments[i]
		if seg.code {
			b := domarkx.Block{Type: domarkx.CodeBlock, Language: seg.language(""), Text: s.code(seg)}
			b.Name, b.HasName = seg.name()
			blocks = append(blocks, b)
			continue
		}
		var parts [][]byte
		for ; i < len(segments) && !segments[i].code; i++ { // a workspace-config block stood between them
			part := unescape(s.text, segments[i].start, segments[i].end, segments[i].slashes)
			if quotes == 1 && !other {
				part = unquote(part)
			}
			if part = trimBlankLines(part); len(part) > 0 {
				parts = append(parts, unixLines(part))
			}
		}
		i--
		switch len(parts) {
		case 0:
		case 1: // the text may be large; it is copied only once
			blocks = append(blocks, domarkx.Block{Type: domarkx.TextBlock, Text: valid(parts[0])})
		default:
			blocks = append(blocks, domarkx.Block{Type: domarkx.TextBlock, Text: valid(bytes.Join(parts, []byte("\n\n")))})
		}
	}
	return blocks
}
