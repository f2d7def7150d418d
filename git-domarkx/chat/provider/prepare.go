package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rules are the requirements of a provider for conversations.
type Rules struct {
	Origin Origin
	// ValidID reports whether the provider accepts an id of a call.
	ValidID func(id string) bool
	// CallIDs returns the ids of the calls in an answer's raw items, in order. ok is false if the
	// items cannot be sent back.
	CallIDs func(items [][]byte) (ids []string, ok bool)
}

// Placeholders for parts that a provider requires and the conversation lacks.
const (
	noResult = "There is no result: the call was not made, or it was interrupted."
	noAnswer = "Please go on."
	noBegin  = "(The conversation begins with the assistant's message.)"
)

// Prepare returns the conversation of a request in a form that every provider accepts. In the returned messages:
//
//   - raw items remain only in answers of the same origin if they have the same calls and are UTF-8, and not with r.Plain;
//   - all other thoughts are omitted;
//   - after each message of the assistant with calls, a message of the user begins with one result for
//     each call, in the same order; missing results are replaced by a note, and results without a call by text;
//   - ids are unique and valid, names of tools are valid, and arguments are JSON objects;
//   - adjacent messages of the user are joined, and the first and the last message are the user's.
func Prepare(r Request, rules Rules) []Message {
	p := preparation{rules: rules, plain: r.Plain, results: map[string][]Result{}, calls: map[string]int{}, ids: map[string]bool{}, items: map[[sha256.Size]byte]bool{}}
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case Result:
				p.results[part.CallID] = append(p.results[part.CallID], part)
			case Call:
				p.calls[part.ID]++
			}
		}
	}
	p.out = make([]Message, 0, len(r.Messages)+2)
	for _, m := range r.Messages {
		if m.Role == Assistant {
			p.assistant(m)
		} else {
			p.user(m)
		}
	}
	if len(p.out) > 0 && p.out[0].Role != User {
		p.out = append([]Message{{Role: User, Parts: []Part{Text{noBegin}}}}, p.out...)
	}
	if len(p.out) == 0 || p.out[len(p.out)-1].Role != User {
		p.add(User, Text{noAnswer})
	}
	return p.out
}

// SentRaw reports whether a request to a model contains raw items.
func SentRaw(r Request, o Origin) bool {
	return !r.Plain && slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Raw != nil && m.Raw.Origin == o })
}

type preparation struct {
	rules   Rules
	plain   bool
	results map[string][]Result        // id of a call → its results that are not used yet
	calls   map[string]int             // id → number of calls with it that follow
	ids     map[string]bool            // ids of calls in out
	items   map[[sha256.Size]byte]bool // digests of the raw items in out
	out     []Message
}

// add appends parts to the last message of out if both are the user's, and a new message otherwise.
func (p *preparation) add(role Role, parts ...Part) {
	if n := len(p.out); n > 0 && p.out[n-1].Role == role && p.out[n-1].Raw == nil && role == User {
		p.out[n-1].Parts = append(p.out[n-1].Parts, parts...)
		return
	}
	p.out = append(p.out, Message{Role: role, Parts: parts})
}

func (p *preparation) user(m Message) {
	var parts []Part
	for _, part := range m.Parts {
		switch part := part.(type) {
		case Text:
			if text := sendable(part.Text); text != "" {
				parts = append(parts, Text{text})
			}
		case Image:
			parts = append(parts, part)
		case Result:
			parts = append(parts, p.orphan(part)...)
		}
	}
	if len(parts) > 0 {
		p.add(User, parts...)
	}
}

// orphan returns a result that no call takes as text, or nil if a call took it or will take it.
func (p *preparation) orphan(r Result) []Part {
	left := p.results[r.CallID]
	if len(left) == 0 || p.calls[r.CallID] > 0 {
		return nil // an earlier call took it, or a later one will
	}
	p.results[r.CallID] = left[1:]
	return []Part{Text{"The result of a call that is no longer in the conversation:\n" + sendable(left[0].Text)}}
}

func (p *preparation) assistant(m Message) {
	own := make([]Part, 0, len(m.Parts)) // texts and calls
	var calls []Call
	var orphans []Part
	for i, part := range m.Parts {
		switch part := part.(type) {
		case Text:
			if text := sendable(part.Text); text == part.Text && text != "" {
				own = append(own, m.Parts[i]) // no allocation
			} else if text != "" {
				own = append(own, Text{text})
			}
		case Call:
			calls = append(calls, part)
			own = append(own, part)
			p.calls[part.ID]--
		case Image:
			orphans = append(orphans, part)
		}
	}
	raw, ids := p.raw(m, len(calls))
	results := make([]Part, 0, len(calls)+len(orphans))
	n := 0
	for i, part := range own {
		call, ok := part.(Call)
		if !ok {
			continue
		}
		result := p.take(call.ID)
		if raw == nil {
			call.ID = p.id(call.ID)
			call.Name = ToolName(call.Name)
			call.Arguments = object(call.Arguments)
		} else {
			call.ID = ids[n]
			p.ids[call.ID] = true
		}
		n++
		own[i], result.CallID = call, call.ID
		results = append(results, result)
	}
	for _, part := range m.Parts {
		if result, ok := part.(Result); ok {
			orphans = append(orphans, p.orphan(result)...)
		}
	}
	if raw != nil || len(own) > 0 {
		p.out = append(p.out, Message{Role: Assistant, Parts: own, Raw: raw})
	}
	if results = append(results, orphans...); len(results) > 0 {
		p.add(User, results...)
	}
}

// raw returns the raw items of an answer and the ids of its calls, or nil if the items must not be
// sent.
func (p *preparation) raw(m Message, calls int) (*Raw, []string) {
	if m.Raw == nil || p.plain || m.Raw.Origin != p.rules.Origin || len(m.Raw.Items) == 0 {
		return nil, nil
	}
	ids, ok := p.rules.CallIDs(m.Raw.Items)
	if !ok || len(ids) != calls {
		return nil, nil
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if p.ids[id] || seen[id] {
			return nil, nil
		}
		seen[id] = true
	}
	for _, item := range m.Raw.Items {
		// Providers refuse an answer that occurs twice, because its ids are not unique. What is not UTF-8 would make the
		// request invalid.
		if p.items[sha256.Sum256(item)] || !utf8.Valid(item) {
			return nil, nil
		}
	}
	for _, item := range m.Raw.Items {
		p.items[sha256.Sum256(item)] = true
	}
	return m.Raw, ids
}

// take returns the result of a call, or a placeholder if there is none.
func (p *preparation) take(id string) Result {
	left := p.results[id]
	if len(left) == 0 {
		return Result{Text: noResult, Failed: true}
	}
	p.results[id] = left[1:]
	result := left[0]
	result.Text = sendable(result.Text)
	return result
}

// id returns a valid id that out does not contain yet.
func (p *preparation) id(id string) string {
	for n := 0; ; n++ {
		if id != "" && p.rules.ValidID(id) && !p.ids[id] {
			p.ids[id] = true
			return id
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", n, id))
		id = "call_" + hex.EncodeToString(sum[:12])
	}
}

// ToolName returns a valid tool name: 1 to 64 letters, digits, "_" and "-".
func ToolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isNameByte(byte(r)) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

// IsName reports whether a text consists of 1 to most letters, digits, "_" and "-".
func IsName(s string, most int) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= most
}

func isNameByte(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// object returns arguments as a JSON object. If arguments are not a JSON object, they become its
// only member.
func object(arguments string) string {
	if IsObject(arguments) {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	b, _ := json.Marshal(map[string]string{"invalid_arguments": arguments})
	return string(b)
}

// IsObject reports whether a text is a JSON object.
func IsObject(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(trimmed, "{") && json.Valid([]byte(text))
}

// sendable returns a text in a form that every provider accepts: valid UTF-8, and "" if it is
// blank.
func sendable(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}
