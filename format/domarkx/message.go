package domarkx

import "fmt"

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
const MaxMessageDepth = MaxDepth - 2

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
	Extra    []Member // unknown members, and known ones that are null, in their order
}

// A Message is the message object of the snapshot format.
type Message struct {
	Role     Role
	Metadata *Value // the object message_metadata; nil when absent
	Content  []Block
	Extra    []Member // unknown members, and known ones that are null, in their order
}

// WorkspaceVersion is the member that this program adds to a message when it shows it: the commit
// of the workspace version that the message's tool calls produced.
const WorkspaceVersion = "workspace_version"

// ParseMessage reads the message object of the snapshot format. at is the JSON pointer of v, for
// errors. Errors are [*SyntaxError] values with the pointer of the faulty value; [Locate] adds line
// and column.
func ParseMessage(v Value, at string) (Message, error) {
	var m Message
	if v.kind != Object {
		return m, wrongKind(v, at, "a message object")
	}
	role, err := required(v, at, "role", String)
	if err != nil {
		return m, err
	}
	if m.Role, err = ParseRole(role.text); err != nil {
		return m, badValue(role, at+"/role", fmt.Sprintf("role is %q, expected \"user\" or \"assistant\"", role.text))
	}
	content, err := required(v, at, "content", Array)
	if err != nil {
		return m, err
	}
	metadata, err := optional(v, at, "message_metadata", Object)
	if err != nil {
		return m, err
	}
	if metadata.kind == Object {
		m.Metadata = &metadata
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

func parseBlock(v Value, at string) (Block, error) {
	var b Block
	if v.kind != Object {
		return b, wrongKind(v, at, "a content block object")
	}
	kind, err := required(v, at, "type", String)
	if err != nil {
		return b, err
	}
	b.Type = BlockType(kind.text)
	switch b.Type {
	case TextBlock:
		value, err := required(v, at, "value", String)
		if err != nil {
			return b, err
		}
		b.Text, b.Extra = value.text, extra(v, "type", "value")
	case CodeBlock:
		language, err := required(v, at, "language", String)
		if err != nil {
			return b, err
		}
		code, err := required(v, at, "code", String)
		if err != nil {
			return b, err
		}
		name, err := optional(v, at, "name", String)
		if err != nil {
			return b, err
		}
		b.Language, b.Text = language.text, code.text
		b.Name, b.HasName = name.text, name.kind == String
		b.Extra = extra(v, "type", "language", "code", "name")
	default:
		return b, badValue(kind, at+"/type", fmt.Sprintf("type is %q, expected \"text\" or \"code\"", kind.text))
	}
	return b, nil
}

// Value returns the message object, with members in the order of the specification and unknown ones
// last.
func (m Message) Value() Value {
	n := 3 + len(m.Extra)
	for _, b := range m.Content {
		n += 4 + len(b.Extra)
	}
	space := make([]Member, 0, n) // for the members of the message and its blocks
	blocks := make([]Value, len(m.Content))
	for i, b := range m.Content {
		start := len(space)
		space = b.appendMembers(space)
		blocks[i] = ObjectValue(space[start:len(space):len(space)]...)
	}
	start := len(space)
	space = append(space, Member{"role", StringValue(string(m.Role))})
	if m.Metadata != nil {
		space = append(space, Member{"message_metadata", *m.Metadata})
	}
	space = append(space, Member{"content", ArrayValue(blocks...)})
	return ObjectValue(append(space, m.Extra...)[start:]...)
}

// Depth returns [Value.Depth] of the message object.
func (m Message) Depth() int {
	const block = 3 // message object, array, and object of the block
	depth := 1
	if m.Metadata != nil {
		depth = 1 + m.Metadata.Depth()
	}
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

// appendMembers appends the members of the block's object.
func (b Block) appendMembers(members []Member) []Member {
	members = append(members, Member{"type", StringValue(string(b.Type))})
	if b.Type == TextBlock {
		members = append(members, Member{"value", StringValue(b.Text)})
	} else {
		members = append(members, Member{"language", StringValue(b.Language)})
		if b.HasName {
			members = append(members, Member{"name", StringValue(b.Name)})
		}
		members = append(members, Member{"code", StringValue(b.Text)})
	}
	return append(members, b.Extra...)
}

// Equal reports whether both messages are the same JSON value.
func (m Message) Equal(n Message) bool { return m.Value().Equal(n.Value()) }

// MetadataGlue is the member of message_metadata that [Message.Glue] reads.
const MetadataGlue = "glue"

// Glue returns the text before, between and after the blocks of a message that was imported from
// another format, including code fences. It is nil if none was recorded, or if the number of blocks
// has changed.
func (m Message) Glue() []string {
	if m.Metadata == nil {
		return nil
	}
	v, _ := m.Metadata.Get(MetadataGlue)
	if len(v.Items()) != len(m.Content)+1 {
		return nil
	}
	glue := make([]string, len(v.Items()))
	for i, item := range v.Items() {
		if item.kind != String {
			return nil
		}
		glue[i] = item.text
	}
	return glue
}
