// Package jsonvalue parses and writes JSON values that keep their spelling: the order of members,
// the digits of numbers, and strings that are not valid Unicode (RFC 8259).
package jsonvalue

import (
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values (RFC 8259, section 3).
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String returns the name of the kind as shown to users.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// A Value is a JSON value that keeps its spelling: objects keep the order of their members (and
// repeated names), numbers keep their spelling, and strings are WTF-8, so that lone surrogates
// survive. The zero Value is null. Values are immutable once shared.
//
// A Value has four words, because the compiler passes four words in registers but would copy a
// fifth one through memory. That is why the offset has 32 bits.
type Value struct {
	text   string  // string content, number spelling, "true" or "false"
	nested *nested // of an array or object that is not empty
	offset uint32
	kind   Kind
}

// nested holds the children of an array or object. It is separate because most values have none.
type nested struct {
	items   []Value
	members []Member
}

// A Member is a name and its value in an object.
type Member struct {
	Name  string
	Value Value
}

// StringValue returns a JSON string; s is WTF-8.
func StringValue(s string) Value { return Value{kind: String, text: s} }

// NumberValue returns a JSON number spelled as given; spelling must be a valid
// JSON number.
func NumberValue(spelling string) Value { return Value{kind: Number, text: spelling} }

// BoolValue returns true or false.
func BoolValue(b bool) Value {
	if b {
		return Value{kind: Bool, text: "true"}
	}
	return Value{kind: Bool, text: "false"}
}

// ArrayValue returns an array of the items. The caller must not change them afterwards.
func ArrayValue(items ...Value) Value {
	v := Value{kind: Array}
	if len(items) > 0 {
		v.nested = &nested{items: items}
	}
	return v
}

// ObjectValue returns an object with the members in that order. The caller must not change them
// afterwards.
func ObjectValue(members ...Member) Value {
	v := Value{kind: Object}
	if len(members) > 0 {
		v.nested = &nested{members: members}
	}
	return v
}

// ObjectOf returns an object. pairs are alternately names and values: a value is a [Value], a
// string, a bool or a whole number, and a member whose value is nil is omitted.
func ObjectOf(pairs ...any) Value {
	members := make([]Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		var value Value
		switch v := pairs[i+1].(type) {
		case nil:
			continue
		case Value:
			value = v
		case string:
			value = StringValue(v)
		case bool:
			value = BoolValue(v)
		case int:
			value = NumberValue(strconv.Itoa(v))
		case int64:
			value = NumberValue(strconv.FormatInt(v, 10))
		}
		members = append(members, Member{Name: pairs[i].(string), Value: value})
	}
	return ObjectValue(members...)
}

// Strings returns an array of strings.
func Strings(all []string) Value {
	items := make([]Value, len(all))
	for i, s := range all {
		items[i] = StringValue(s)
	}
	return ArrayValue(items...)
}

// Maybe returns a value for [ObjectOf]: none for "".
func Maybe(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Plus returns the object with more members at its end.
func (v Value) Plus(members ...Member) Value {
	return ObjectValue(slices.Concat(v.Members(), members)...)
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Text returns the content of a string (WTF-8) or the spelling of a number or boolean, and "" for
// other kinds.
func (v Value) Text() string { return v.text }

// IsTrue reports whether the value is the boolean true.
func (v Value) IsTrue() bool { return v.kind == Bool && v.text == "true" }

// Items returns the items of an array. The caller must not change them.
func (v Value) Items() []Value {
	if v.nested == nil {
		return nil
	}
	return v.nested.items
}

// Texts returns what [Value.Text] returns for each item of an array.
func (v Value) Texts() []string {
	texts := make([]string, len(v.Items()))
	for i, item := range v.Items() {
		texts[i] = item.Text()
	}
	return texts
}

// Members returns the members of an object. The caller must not change them.
func (v Value) Members() []Member {
	if v.nested == nil {
		return nil
	}
	return v.nested.members
}

// Offset returns the byte offset of the value in the parsed text, or 4 GiB if it is greater. It is
// 0 for a value that was not parsed.
func (v Value) Offset() int { return int(v.offset) }

// Depth returns how deep arrays and objects are nested in the value: the number of them around the
// innermost value. It is 0 for empty arrays and objects and for other kinds.
func (v Value) Depth() int {
	if v.nested == nil {
		return 0
	}
	inside := 0
	for _, item := range v.nested.items {
		inside = max(inside, item.Depth())
	}
	for _, m := range v.nested.members {
		inside = max(inside, m.Value.Depth())
	}
	return 1 + inside
}

// Get returns the member with that name, the last one if several have it, as JSON readers commonly
// do.
func (v Value) Get(name string) (Value, bool) {
	members := v.Members()
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name == name {
			return members[i].Value, true
		}
	}
	return Value{}, false
}

// With returns the object with one member set. An existing member keeps its position, and its
// duplicates are removed; a new one is added at the end. For other kinds it returns an object with
// only that member.
func (v Value) With(name string, value Value) Value {
	isSame := func(m Member) bool { return m.Name == name }
	i := slices.IndexFunc(v.Members(), isSame)
	if i < 0 {
		return v.Plus(Member{name, value})
	}
	members := slices.Clone(v.Members())
	members[i].Value = value
	return ObjectValue(members[:i+1+len(slices.DeleteFunc(members[i+1:], isSame))]...)
}

// Distinct returns the members without repeated names: each name at its first position with its
// last value, as repeated calls of [Value.With] would produce.
func Distinct(members []Member) []Member {
	const few = 16 // up to here comparing all pairs costs less than a map
	repeats := len(members) > few
	for i := 0; i < len(members) && !repeats; i++ {
		repeats = slices.ContainsFunc(members[:i], func(m Member) bool { return m.Name == members[i].Name })
	}
	if !repeats {
		return members
	}
	distinct := make([]Member, 0, len(members))
	places := make(map[string]int, len(members))
	for _, m := range members {
		if at, ok := places[m.Name]; ok {
			distinct[at].Value = m.Value
			continue
		}
		places[m.Name] = len(distinct)
		distinct = append(distinct, m)
	}
	return distinct
}

// Without returns the object without the members of that name.
func (v Value) Without(name string) Value {
	return ObjectValue(slices.DeleteFunc(slices.Clone(v.Members()), func(m Member) bool { return m.Name == name })...)
}

// Equal reports whether both values are the same, including the spelling of numbers and the order
// of members.
func (v Value) Equal(w Value) bool {
	if v.kind != w.kind || v.text != w.text {
		return false
	}
	if v.nested == nil || w.nested == nil {
		return v.nested == w.nested
	}
	return slices.EqualFunc(v.nested.items, w.nested.items, Value.Equal) &&
		slices.EqualFunc(v.nested.members, w.nested.members, func(a, b Member) bool {
			return a.Name == b.Name && a.Value.Equal(b.Value)
		})
}

// Nearest returns the value at a JSON pointer (RFC 6901), or if there is none, the innermost
// existing value on the way to it.
func (v Value) Nearest(pointer string) Value {
	for _, token := range PointerTokens(pointer) {
		next, ok := v.Get(token)
		if i, err := strconv.Atoi(token); err == nil && v.kind == Array && i >= 0 && i < len(v.Items()) {
			next, ok = v.Items()[i], true
		}
		if !ok {
			return v
		}
		v = next
	}
	return v
}

// PointerTokens returns the unescaped tokens of a JSON pointer.
func PointerTokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}
