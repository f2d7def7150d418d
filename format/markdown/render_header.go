package markdown

import (
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// RenderHeader returns the canonical rendering of a header (SPEC.md): front matter, session-config,
// setup-script, workspace-config, one block of JSON for what Markdown cannot represent, and the
// Markdown before the first heading. It is "" for the header of an empty session. [Decode] restores
// the same header, whose strings must be WTF-8.
func RenderHeader(h domarkx.Header) []byte {
	if h.ExecutionConfig.Kind() != jsonvalue.Object {
		h.ExecutionConfig = jsonvalue.ObjectValue()
	}
	for places := allPlaces; ; places-- {
		rendering := renderHeader(h, places)
		if places == 0 || !hides(rendering) && headerReadsAs(rendering, h) {
			return rendering
		}
	}
}

// The parts of a header that Markdown can represent, in the order in which they are moved to the JSON
// block until the rendering reads back as the header.
const (
	placeConfig = 1 + iota
	placeFrontMatter
	placeSetup
	placeText
	allPlaces = placeText
)

func headerReadsAs(rendering []byte, h domarkx.Header) bool {
	d, err := open(rendering, "", nil)
	if err != nil {
		return false
	}
	if err := d.read(); err != nil || len(d.doc.Conversation) > 0 || d.unclosed != "" {
		return false
	}
	return d.doc.Header.Value().Equal(h.Value())
}

// renderHeader renders the parts up to that place as Markdown, and the others in a block of JSON.
func renderHeader(h domarkx.Header, places int) []byte {
	var parts [][]byte
	rest := h
	if h.UserMetadata != nil && places >= placeFrontMatter && fitsYAML(*h.UserMetadata) {
		front := appendYAMLMembers([]byte("---\n"), "", "", h.UserMetadata.Members())
		parts = append(parts, append(front, "---\n"...))
		rest.UserMetadata = nil
	}
	var workspace []byte
	if places >= placeConfig {
		config := h.ExecutionConfig
		if resources, ok := workspaceOf(config); ok {
			workspace = appendWorkspace(nil, resources)
			config = config.Without("workspace")
		}
		if len(config.Members()) > 0 {
			parts = append(parts, appendJSONBlock(nil, sessionConfig, config))
		}
		rest.ExecutionConfig = jsonvalue.ObjectValue()
	}
	if h.Setup != nil && places >= placeSetup && len(h.Setup.Extra) == 0 {
		parts = append(parts, appendFenced(nil, strings.TrimPrefix(h.Setup.Language+" "+setupScript, " "), h.Setup.Code))
		rest.Setup = nil
	}
	if workspace != nil {
		parts = append(parts, workspace)
	}
	var text []byte
	if n := len(h.MetadataExtra) - 1; n >= 0 && places >= placeText {
		if m := h.MetadataExtra[n]; m.Name == preambleMember && m.Value.Kind() == jsonvalue.String && m.Value.Text() != "" {
			text = append(appendText(nil, m.Value.Text()), '\n')
			rest.MetadataExtra = h.MetadataExtra[:n]
		}
	}
	if object := restOf(rest); len(object.Members()) > 0 {
		parts = append(parts, appendJSONBlock(nil, "json "+wholeSnapshot, object))
	}
	if text != nil {
		parts = append(parts, text)
	}
	var out []byte
	for i, part := range parts {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, part...)
	}
	return out
}

// restOf returns the members that a domarkx-snapshot block holds for a header.
func restOf(h domarkx.Header) jsonvalue.Value {
	object := h.Value().Without("version")
	if metadata, _ := object.Get("metadata"); len(metadata.Members()) == 0 {
		object = object.Without("metadata")
	}
	if len(h.ExecutionConfig.Members()) == 0 {
		object = object.Without("execution_config")
	}
	return object
}

// workspaceOf returns the workspace of an execution_config that can be a block of
// its own: its last member, and valid.
func workspaceOf(config jsonvalue.Value) (jsonvalue.Value, bool) {
	members := config.Members()
	if len(members) == 0 {
		return jsonvalue.Value{}, false
	}
	last := members[len(members)-1]
	if last.Name != "workspace" || !fitsYAML(last.Value) {
		return jsonvalue.Value{}, false
	}
	if _, err := domarkx.ParseWorkspace(last.Value, ""); err != nil {
		return jsonvalue.Value{}, false
	}
	_, earlier := jsonvalue.ObjectValue(members[:len(members)-1]...).Get("workspace")
	return last.Value, !earlier
}

// appendWorkspace appends a workspace-config block.
func appendWorkspace(dst []byte, workspace jsonvalue.Value) []byte {
	dst = append(dst, "```"+workspaceConfig+"\n"...)
	for _, m := range workspace.Members() {
		if m.Name != "resources" {
			dst = appendYAMLMembers(dst, "", "", []jsonvalue.Member{m})
			continue
		}
		dst = append(dst, "resources:\n"...)
		for _, resource := range m.Value.Items() {
			dst = appendYAMLMembers(dst, "  - ", "    ", resource.Members())
		}
	}
	return append(dst, "```\n"...)
}
