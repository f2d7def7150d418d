package domarkx

import (
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A Role is the author role of a message.
type Role string

// The roles of the snapshot format.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// ParseRole returns the role with that name. The error is [ErrInvalid].
func ParseRole(s string) (Role, error) {
	switch s { // a conversion of s would keep the text that s is a part of in memory
	case string(User):
		return User, nil
	case string(Assistant):
		return Assistant, nil
	}
	return "", fmt.Errorf("role %q: %w, expected \"user\" or \"assistant\"", s, ErrInvalid)
}

// MaxMessageDepth limits the nesting of a message's object ([Value.Depth]), so that it can still be
// parsed inside the conversation of a snapshot.
const MaxMessageDepth = jsonvalue.MaxDepth - 2

// A BlockType is the type of a content block.
type BlockType string

// The types of content blocks.
const (
	TextBlock BlockType = "text"
	CodeBlock BlockType = "code"
)

// A Block is one piece of a message's content (snapshot format,
// "content_block"). Strings are WTF-8.
type Block struct {
	Type     BlockType
	Text     string // the value of a text block, the code of a code block
	Language string // of a code block; may be ""
	Name     string // of a code block, if HasName
	HasName  bool
	Extra    []jsonvalue.Member // unknown members, and known ones that are null, in their order
}

// A Message is the message object of the snapshot format.
type Message struct {
	Role     Role
	Metadata *jsonvalue.Value // the object message_metadata; nil when absent
	Content  []Block
	Extra    []jsonvalue.Member // unknown members, and known ones that are null, in their order
}

// WorkspaceVersion is the member that this program adds to a message when it shows it: the commit
// of the workspace version that the message's tool calls produced.
const WorkspaceVersion = "workspace_version"

// ParseMessage reads the message object of the snapshot format. at is the JSON pointer of v, for
// errors. Errors are [*syntax.Error] values with the pointer of the faulty value; [Locate] adds line
// and column.
func ParseMessage(v jsonvalue.Value, at string) (Message, error) {
	var m Message
	if v.Kind() != jsonvalue.Object {
		return m, wrongKind(v, at, "a message object")
	}
	o := object{Value: v, at: at}
	role := o.required("role", jsonvalue.String)
	var err error
	if m.Role, err = ParseRole(role.Text()); err != nil {
		o.fail(badValue(role, at+"/role", fmt.Sprintf("role is %q, expected \"user\" or \"assistant\"", role.Text())))
	}
	content := o.required("content", jsonvalue.Array)
	if metadata := o.optional("message_metadata", jsonvalue.Object); metadata.Kind() == jsonvalue.Object {
		m.Metadata = &metadata
	}
	if o.err != nil {
		return m, o.err
	}
	m.Extra = extra(v, "role", "content", "message_metadata")
	m.Content = make([]Block, 0, len(content.Items()))
	for i, item := range content.Items() {
		b, err := parseBlock(item, fmt.Sprintf("%s/content/%d", at, i))
		if err != nil {
			return m, err
		}
		m.Content = append(m.Content, b)
	}
	return m, nil
}

func parseBlock(v jsonvalue.Value, at string) (Block, error) {
	var b Block
	if v.Kind() != jsonvalue.Object {
		return b, wrongKind(v, at, "a content block object")
	}
	o := object{Value: v, at: at}
	kind := o.required("type", jsonvalue.String)
	switch b.Type = BlockType(kind.Text()); b.Type {
	case TextBlock:
		b.Text, b.Extra = o.required("value", jsonvalue.String).Text(), extra(v, "type", "value")
	case CodeBlock:
		b.Language, b.Text = o.required("language", jsonvalue.String).Text(), o.required("code", jsonvalue.String).Text()
		name := o.optional("name", jsonvalue.String)
		b.Name, b.HasName = name.Text(), name.Kind() == jsonvalue.String
		b.Extra = extra(v, "type", "language", "code", "name")
	default:
		o.fail(badValue(kind, at+"/type", fmt.Sprintf("type is %q, expected \"text\" or \"code\"", kind.Text())))
	}
	return b, o.err
}

// Value returns the message object, with members in the order of the specification and unknown ones
// last.
func (m Message) Value() jsonvalue.Value {
	blocks := make([]jsonvalue.Value, len(m.Content))
	for i, b := range m.Content {
		blocks[i] = b.value()
	}
	members := make([]jsonvalue.Member, 1, 3+len(m.Extra))
	members[0] = jsonvalue.Member{Name: "role", Value: jsonvalue.StringValue(string(m.Role))}
	if m.Metadata != nil {
		members = append(members, jsonvalue.Member{Name: "message_metadata", Value: *m.Metadata})
	}
	members = append(members, jsonvalue.Member{Name: "content", Value: jsonvalue.ArrayValue(blocks...)})
	return jsonvalue.ObjectValue(append(members, m.Extra...)...)
}

// Meta returns the object message_metadata; null if it is absent.
func (m Message) Meta() jsonvalue.Value {
	if m.Metadata == nil {
		return jsonvalue.Value{}
	}
	return *m.Metadata
}

// Depth returns [Value.Depth] of the message object.
func (m Message) Depth() int {
	const block = 3 // message object, array, and object of the block
	depth := 1 + m.Meta().Depth()
	for _, b := range m.Content {
		depth = max(depth, block)
		for _, extra := range b.Extra {
			depth = max(depth, block+extra.Value.Depth())
		}
	}
	for _, extra := range m.Extra {
		depth = max(depth, 1+extra.Value.Depth())
	}
	return depth
}

// value returns the block's object.
func (b Block) value() jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, 4+len(b.Extra))
	add := func(name, text string) {
		members = append(members, jsonvalue.Member{Name: name, Value: jsonvalue.StringValue(text)})
	}
	add("type", string(b.Type))
	if b.Type == TextBlock {
		add("value", b.Text)
	} else {
		add("language", b.Language)
		if b.HasName {
			add("name", b.Name)
		}
		add("code", b.Text)
	}
	return jsonvalue.ObjectValue(append(members, b.Extra...)...)
}

// Equal reports whether both messages are the same JSON value.
func (m Message) Equal(n Message) bool { return m.Value().Equal(n.Value()) }

// MetadataGlue is the member of message_metadata that [Message.Glue] reads.
const MetadataGlue = "glue"

// Glue returns the text before, between and after the blocks of a message that was imported from
// another format, including code fences. It is nil if none was recorded, or if the number of blocks
// has changed.
func (m Message) Glue() []string {
	v, _ := m.Meta().Get(MetadataGlue)
	if len(v.Items()) != len(m.Content)+1 {
		return nil
	}
	if slices.ContainsFunc(v.Items(), func(item jsonvalue.Value) bool { return item.Kind() != jsonvalue.String }) {
		return nil
	}
	return v.Texts()
}
