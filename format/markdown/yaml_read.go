package markdown

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

const (
	// maxYAML limits the size of YAML that is read, in bytes: the parsed nodes need about a hundred
	// times as much memory.
	maxYAML = 1 << 20
	// maxAliased limits the total size of the content that the aliases of one YAML text expand to,
	// in bytes.
	maxAliased = 16 << 20
)

// parseYAML reads one YAML document as a JSON value. SPEC.md defines the conversion of values that
// JSON does not have. The error is a [*syntax.Error] with a position in data.
func parseYAML(data []byte) (jsonvalue.Value, error) {
	if len(data) > maxYAML {
		return jsonvalue.Value{}, yamlError(1, 1, "the YAML is larger than %d MiB", maxYAML>>20)
	}
	text, breaks, err := hideBreaks(valid(data))
	if err != nil {
		return jsonvalue.Value{}, err
	}
	loader, err := yaml.NewLoader(strings.NewReader(text))
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("reading YAML: %w", err)
	}
	var root yaml.Node
	if err := loader.Load(&root); errors.Is(err, io.EOF) {
		return jsonvalue.Value{}, nil
	} else if err != nil {
		return jsonvalue.Value{}, loadError(err, text)
	}
	var next yaml.Node
	if err := loader.Load(&next); err == nil {
		return jsonvalue.Value{}, yamlError(next.Line, next.Column, "a second YAML document, expected one")
	} else if !errors.Is(err, io.EOF) {
		return jsonvalue.Value{}, loadError(err, text)
	}
	if len(root.Content) != 1 {
		return jsonvalue.Value{}, nil
	}
	r := yamlReader{breaks: breaks, known: map[*yaml.Node]sized{}}
	v, err := r.value(root.Content[0])
	return v.Value, err
}

func yamlError(line, column int, format string, args ...any) error {
	return &syntax.Error{Line: max(1, line), Column: max(1, column), Msg: fmt.Sprintf(format, args...)}
}

// loadError returns the position of a YAML error: where the parser stopped or, if that is the end
// of the text, the start of the open construct.
func loadError(err error, text string) error {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return yamlError(1, 1, "%v", err)
	}
	msg, mark := load.Message, load.Mark
	if load.ContextMsg != "" {
		msg = load.ContextMsg + ": " + msg
		if mark.Line > strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1 && load.ContextMark.Line > 0 {
			mark = load.ContextMark
		}
	}
	return yamlError(mark.Line, mark.Column, "%s", msg)
}

// hideBreaks replaces NEL, LS and PS by private-use characters that the text does not contain,
// because they are line ends in YAML 1.1 but not in YAML 1.2 and Markdown. The replacer restores
// them.
func hideBreaks(text string) (string, *strings.Replacer, error) {
	line, column := 1, 1
	hidden := false
	for _, r := range text {
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			return "", nil, yamlError(line, column, "the character U+%04X is not allowed in YAML, expected an escape in double quotes", r)
		case r == 0x85, r == 0x2028, r == 0x2029:
			hidden = true
		}
		column++
	}
	if !hidden {
		return text, strings.NewReplacer(), nil
	}
	var hide, show []string
	private := rune(0xF0000)
	for _, r := range []string{"\u0085", "\u2028", "\u2029"} {
		for strings.ContainsRune(text, private) {
			private++
		}
		hide, show = append(hide, r, string(private)), append(show, string(private), r)
		private++
	}
	return strings.NewReplacer(hide...).Replace(text), strings.NewReplacer(show...), nil
}

// A sized is a value with its approximate size as JSON, in bytes.
type sized struct {
	jsonvalue.Value
	size int
}

type yamlReader struct {
	breaks  *strings.Replacer
	known   map[*yaml.Node]sized // values of anchors, once read
	aliased int
}

func (r *yamlReader) value(n *yaml.Node) (sized, error) {
	if n.Kind == yaml.AliasNode {
		return r.alias(n)
	}
	v, err := r.plain(n)
	if n.Anchor != "" && err == nil {
		r.known[n] = v
	}
	return v, err
}

func (r *yamlReader) alias(n *yaml.Node) (sized, error) {
	v, ok := r.known[n.Alias]
	if !ok && n.Alias.Kind == yaml.ScalarNode { // a key
		return r.plain(n.Alias)
	}
	if !ok {
		return v, yamlError(n.Line, n.Column, "the alias %q is inside its own anchor", n.Value)
	}
	if r.aliased += v.size; r.aliased > maxAliased {
		return v, yamlError(n.Line, n.Column, "the aliases expand to more than %d MiB", maxAliased>>20)
	}
	return v, nil
}

func (r *yamlReader) plain(n *yaml.Node) (sized, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		v := scalar(n)
		if v.Kind() == jsonvalue.String {
			v = jsonvalue.StringValue(r.breaks.Replace(v.Text()))
		}
		return sized{v, len(v.Text()) + 4}, nil
	case yaml.SequenceNode:
		items := make([]jsonvalue.Value, len(n.Content))
		size := 2
		for i, item := range n.Content {
			v, err := r.value(item)
			if err != nil {
				return v, err
			}
			items[i] = v.Value
			size += v.size
		}
		return sized{jsonvalue.ArrayValue(items...), size}, nil
	case yaml.MappingNode:
		return r.mapping(n)
	}
	return sized{}, yamlError(n.Line, n.Column, "unexpected YAML, expected a mapping, a sequence or a scalar")
}

func (r *yamlReader) mapping(n *yaml.Node) (sized, error) {
	own := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, err := r.key(n.Content[i])
		if err != nil {
			return sized{}, err
		}
		if own[name] {
			return sized{}, yamlError(n.Content[i].Line, n.Content[i].Column, "the key %q is there already", name)
		}
		own[name] = true
	}
	size := 2
	members := make([]jsonvalue.Member, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := r.value(n.Content[i+1])
		if err != nil {
			return sized{}, err
		}
		size += v.size
		if !isMerge(n.Content[i]) {
			name, _ := r.key(n.Content[i])
			members = append(members, jsonvalue.Member{Name: name, Value: v.Value})
			size += len(name) + 4
			continue
		}
		sources := v.Items()
		if v.Kind() == jsonvalue.Object {
			sources = []jsonvalue.Value{v.Value}
		}
		for _, source := range sources {
			if source.Kind() != jsonvalue.Object {
				sources = nil
			}
		}
		if len(sources) == 0 {
			return sized{}, yamlError(n.Content[i+1].Line, n.Content[i+1].Column, "a merge key (<<) with no mapping, expected one or a sequence of them")
		}
		for _, source := range sources {
			for _, m := range source.Members() {
				if !own[m.Name] {
					own[m.Name] = true
					members = append(members, m)
				}
			}
		}
	}
	return sized{jsonvalue.ObjectValue(members...), size}, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// key returns the member name for a mapping key: its spelling.
func (r *yamlReader) key(n *yaml.Node) (string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", yamlError(n.Line, n.Column, "a mapping key is not a scalar, expected a string")
	}
	return r.breaks.Replace(n.Value), nil
}

// scalar resolves a scalar by the core schema of YAML 1.2.2, where YAML readers agree. Values that
// they read differently (dates, 0777, 1_000, yes) or that JSON does not have (.inf) remain strings
// in their original spelling.
func scalar(n *yaml.Node) jsonvalue.Value {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		switch n.ShortTag() {
		case "!!int", "!!float", "!!bool", "!!null":
		default:
			return jsonvalue.StringValue(n.Value)
		}
	case n.Style&quoted != 0:
		return jsonvalue.StringValue(n.Value)
	}
	switch n.Value {
	case "", "~", "null", "Null", "NULL":
		return jsonvalue.Value{}
	case "true", "True", "TRUE":
		return jsonvalue.BoolValue(true)
	case "false", "False", "FALSE":
		return jsonvalue.BoolValue(false)
	}
	if spelling, ok := jsonNumber(n.Value); ok {
		return jsonvalue.NumberValue(spelling)
	}
	return jsonvalue.StringValue(n.Value)
}

const digits = "0123456789"

// isJSONNumber reports whether s is a number of RFC 8259.
func isJSONNumber(s string) bool {
	return json.Valid([]byte(s)) && strings.Contains("-"+digits, s[:1]) && strings.Contains(digits, s[len(s)-1:])
}

// jsonNumber converts a number of YAML's core schema to JSON. It keeps the spelling if JSON allows
// it, removes a plus sign, adds digits around the point, and converts hexadecimal (0x) and octal
// (0o) to decimal.
func jsonNumber(s string) (string, bool) {
	if isJSONNumber(s) {
		return s, true
	}
	const longest = 64
	if base := map[string]int{"0x": 16, "0o": 8}[s[:min(2, len(s))]]; base != 0 && len(s) <= longest && !strings.ContainsAny(s[2:], "+-_") {
		n, ok := new(big.Int).SetString(s[2:], base)
		if !ok {
			return "", false
		}
		return n.String(), true
	}
	sign := ""
	if t, ok := strings.CutPrefix(s, "+"); ok {
		s = t
	} else if t, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", t
	}
	if whole, rest, ok := strings.Cut(s, "."); ok {
		if rest == "" || !strings.Contains(digits, rest[:1]) {
			if whole == "" {
				return "", false
			}
			rest = "0" + rest
		}
		s = cmp.Or(whole, "0") + "." + rest
	}
	return sign + s, isJSONNumber(s) && !strings.HasPrefix(s, "-")
}
