package markdown

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A configBlock is a block that configures a session.
type configBlock struct {
	line int // its first line in the document
	text []byte
}

// Locate adds a position to an error about a document's execution_config: line and column of the block
// that states it, and a JSON pointer from the top of that block. If no block of the document states
// it, for example because it is from an included file, the error gets only the document's path.
func (f Finding) Locate(err *syntax.Error) *syntax.Error {
	e := *err
	e.Path = f.path
	for _, level := range []struct{ name, at string }{{workspaceConfig, "/execution_config/workspace"}, {sessionConfig, "/execution_config"}, {wholeSnapshot, ""}} {
		block, found := f.configs[level.name]
		pointer, within := strings.CutPrefix(e.Pointer, level.at)
		if !found || !within {
			continue
		}
		line, column := positionOf(block.text, pointer)
		e.Line, e.Column, e.Pointer, e.Msg = block.line+line-1, column, pointer, level.name+" block: "+e.Msg
		return &e
	}
	return &e
}

// positionOf returns the line and column of the value at a JSON pointer in JSON or YAML. If there is
// no such value, the position is that of its nearest existing parent.
func positionOf(text []byte, pointer string) (line, column int) {
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		v, err := jsonvalue.ParseValue(text)
		if err != nil {
			return 1, 1
		}
		return syntax.Position(text, v.Nearest(pointer).Offset())
	}
	loader, err := yaml.NewLoader(strings.NewReader(valid(text)))
	var root yaml.Node
	if err != nil || loader.Load(&root) != nil || len(root.Content) == 0 {
		return 1, 1
	}
	n := root.Content[0]
	for _, token := range jsonvalue.PointerTokens(pointer) {
		next := childOf(n, token)
		if next == nil {
			break
		}
		n = next
	}
	return max(n.Line, 1), max(n.Column, 1)
}

// childOf returns the value of a mapping's key, or an item of a sequence; nil if there is none.
func childOf(n *yaml.Node, token string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	case yaml.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			if len(pair) == 2 && pair[0].Value == token {
				return pair[1]
			}
		}
	}
	return nil
}
