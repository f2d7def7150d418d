package markdown

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// preambleMember is the metadata member that holds the Markdown before the first heading.
const preambleMember = "preamble"

// config reads the content of a block that is JSON or YAML as an object.
func (s *source) config(seg segment, what string, depth int) (jsonvalue.Value, error) {
	code := []byte(s.code(seg))
	if isJSON(seg, code) {
		return s.object(seg, what, depth)
	}
	v, err := parseMapping(code, depth)
	if err != nil {
		return v, s.errorIn(seg, what+" block", err)
	}
	return v, nil
}

// isJSON reports whether a block with that content is JSON, not YAML.
func isJSON(seg segment, code []byte) bool {
	return seg.is("json") || bytes.HasPrefix(bytes.TrimLeft(code, " \t\n\r"), []byte("{"))
}

// parseMapping reads YAML that is a mapping, or nothing, at the given depth in the document.
func parseMapping(text []byte, depth int) (jsonvalue.Value, error) {
	v, err := parseYAML(text)
	switch {
	case err != nil:
	case v.Kind() == jsonvalue.Null:
		v = jsonvalue.ObjectValue()
	case v.Kind() != jsonvalue.Object:
		err = yamlError(1, 1, "is a YAML %s, expected a mapping", yamlKind(v))
	case v.Depth() > jsonvalue.MaxDepth-depth:
		err = yamlError(1, 1, "is nested too deep")
	}
	return v, err
}

func yamlKind(v jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.Array:
		return "sequence"
	case jsonvalue.Object:
		return "mapping"
	}
	return "scalar"
}

// workspace reads a workspace-config block.
func (s *source) workspace(seg segment) (jsonvalue.Value, error) {
	v, err := s.config(seg, workspaceConfig, depthWorkspace)
	if err != nil {
		return v, err
	}
	return v, s.checkWorkspace(seg, workspaceConfig, v, "")
}

// checkWorkspace checks that a value is a workspace-config (domarkx-architecture, section 5.2). It
// returns nil or the first error, whose JSON pointer is relative to the block's top.
func (s *source) checkWorkspace(seg segment, what string, v jsonvalue.Value, at string) error {
	if at != "" && v.Kind() == jsonvalue.Null {
		return nil // no workspace
	}
	_, err := domarkx.ParseWorkspace(v, at)
	if err == nil {
		return nil
	}
	code := s.code(seg)
	err = domarkx.Locate(err, []byte(code))
	var bad *syntax.Error
	if !isJSON(seg, []byte(code)) && errors.As(err, &bad) { // a value that YAML has and JSON lacks
		bad.Line, bad.Column = 1, 1
		for i, line := range strings.Split(code, "\n") {
			if strings.HasPrefix(strings.TrimLeft(line, " \t{\"'"), "resources") {
				bad.Line = i + 1
				break
			}
		}
	}
	return s.errorIn(seg, what+" block", err)
}

// A preamble holds the parts of the text before the first heading.
type preamble struct {
	config, setup, whole segment // nil if the preamble has no such block
	text                 string
}

// preamble sorts the blocks before the first heading into the parts of a preamble. It calls workspace
// with each workspace-config block.
func (s *source) preamble(sec section, workspace func(segment) error) (preamble, error) {
	var p preamble
	var text []string
	var pending *segment // consecutive text segments
	flush := func() {
		if pending == nil {
			return
		}
		part := unescape(s.text, pending.start, pending.end, pending.slashes)
		if part = trimBlankLines(part); len(part) > 0 {
			text = append(text, valid(unixLines(part)))
		}
		pending = nil
	}
	explicit := slices.ContainsFunc(sec.segments, func(seg segment) bool { return seg.is(setupScript) })
	next := false // the previous block was session-config
	for _, seg := range sec.segments {
		follows := next
		next = next && !seg.code && !seg.other && seg.quotes == 0
		take := (*segment)(nil)
		switch {
		case seg.is(workspaceConfig):
			flush()
			if err := workspace(seg); err != nil {
				return p, err
			}
			continue
		case seg.is(sessionConfig) && !p.config.code:
			take, next = &p.config, true
		case seg.is(wholeSnapshot) && !p.whole.code:
			take = &p.whole
		case (seg.is(setupScript) || seg.code && follows && !explicit) && !p.setup.code:
			take = &p.setup
		}
		if take != nil {
			flush()
			*take = seg
			continue
		}
		if pending == nil {
			pending = &segment{start: seg.start}
		}
		pending.end = seg.end
		pending.slashes = append(pending.slashes, seg.slashes...)
	}
	flush()
	p.text = strings.Join(text, "\n\n")
	return p, nil
}

// header creates the header of a document from its front matter, the text before the first heading,
// and the workspace. Front matter and workspace are nil if absent.
func (s *source) header(user *jsonvalue.Value, p preamble, workspace *jsonvalue.Value) (domarkx.Header, error) {
	h := domarkx.NewHeader()
	if p.whole.code {
		var err error
		if h, err = s.wholeSnapshot(p.whole); err != nil {
			return h, err
		}
	}
	if user != nil {
		h.UserMetadata = user
		h.MetadataExtra = without(h.MetadataExtra, "user_metadata")
	}
	inConfig, at := p.whole, "/execution_config"
	if p.config.code {
		config, err := s.config(p.config, sessionConfig, depthExecutionConfig)
		if err != nil {
			return h, err
		}
		h.ExecutionConfig = config
		inConfig, at = p.config, ""
	}
	if own, ok := h.ExecutionConfig.Get("workspace"); ok && workspace == nil {
		what := sessionConfig
		if at != "" {
			what = wholeSnapshot
		}
		if err := s.checkWorkspace(inConfig, what, own, at+"/workspace"); err != nil {
			return h, err
		}
	}
	if workspace != nil {
		h.ExecutionConfig = h.ExecutionConfig.With("workspace", *workspace)
	}
	if p.setup.code {
		h.Setup = &domarkx.Script{Language: p.setup.language(setupScript), Code: s.code(p.setup)}
		h.Extra = without(h.Extra, "setup_script")
	}
	if p.text != "" {
		h.MetadataExtra = append(without(h.MetadataExtra, preambleMember),
			jsonvalue.Member{Name: preambleMember, Value: jsonvalue.StringValue(p.text)})
	}
	return h, nil
}

// wholeSnapshot reads the block that holds document fields which Markdown cannot represent.
func (s *source) wholeSnapshot(seg segment) (domarkx.Header, error) {
	object, err := s.object(seg, wholeSnapshot, 0)
	if err != nil {
		return domarkx.Header{}, err
	}
	if _, ok := object.Get("conversation"); ok {
		return domarkx.Header{}, s.errorAt(seg.start, "%s block: has a conversation, expected the messages under headings", wholeSnapshot)
	}
	for _, m := range []jsonvalue.Member{
		{Name: "version", Value: jsonvalue.StringValue(domarkx.FormatVersion)},
		{Name: "metadata", Value: jsonvalue.ObjectValue()},
		{Name: "execution_config", Value: jsonvalue.ObjectValue()},
	} {
		if _, ok := object.Get(m.Name); !ok {
			object = object.With(m.Name, m.Value)
		}
	}
	h, err := domarkx.ParseHeader(object, true)
	if err != nil {
		return h, s.errorIn(seg, wholeSnapshot+" block", domarkx.Locate(err, []byte(s.code(seg))))
	}
	return h, nil
}

func without(members []jsonvalue.Member, name string) []jsonvalue.Member {
	return slices.DeleteFunc(slices.Clone(members), func(m jsonvalue.Member) bool { return m.Name == name })
}
