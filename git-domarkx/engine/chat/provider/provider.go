// Package provider defines what a request to a language model and its answer consist of,
// whatever wire format the model's provider speaks.
//
// The packages below it implement the wires. Each of them sends a [Request] and returns an
// [Answer], whose raw items are the provider's own JSON, byte for byte. A raw item is sent back
// only to the [Origin] that it came from: it holds ids, signatures and encrypted reasoning that
// no other provider, host or model accepts.
package provider

import "context"

// A Wire sends requests to one model.
type Wire interface {
	// Origin identifies the model. Raw items of the same origin are sent back to it.
	Origin() Origin
	// Stream sends a request and calls emit for each piece of the answer as it arrives. If the
	// answer breaks off, Stream returns what came of it together with an error (see [Error]);
	// such an answer has no raw items.
	Stream(ctx context.Context, r Request, emit func(Event)) (Answer, error)
	// Parts returns what the raw items of an answer say, which is what Stream returned with them.
	// It is an error if they have anything else to say to the provider: items can come from
	// somebody else's session.
	Parts(items [][]byte) ([]Part, error)
}

// An Origin is where raw items come from.
type Origin struct {
	Provider string `json:"provider"` // "anthropic", "openai", "openai-chat" or "gemini"
	Host     string `json:"host"`     // of the URL, with the port if it has one
	Model    string `json:"model"`    // as requested
}

// A Request is a conversation for a model to continue.
type Request struct {
	System    []string // system prompts, in order
	Messages  []Message
	Tools     []Tool
	MaxTokens int       // of the answer; 0 for the wire's default
	Reasoning Reasoning // "" for the model's default
	// Plain leaves out all raw items, for a provider that refused them.
	Plain bool
}

// A Reasoning is how much a model thinks before it answers.
type Reasoning string

// The degrees of reasoning.
const (
	ReasoningOff    Reasoning = "off"
	ReasoningLow    Reasoning = "low"
	ReasoningMedium Reasoning = "medium"
	ReasoningHigh   Reasoning = "high"
)

// A Tool is a function that the model may call.
type Tool struct {
	Name        string // matches [A-Za-z0-9_-]{1,64}
	Description string
	Schema      []byte // JSON Schema of the arguments, an object
}

// A Role is the author role of a message.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one contribution to the conversation. An assistant's message may hold the results
// of its calls, as they are stored.
type Message struct {
	Role  Role
	Parts []Part
	Raw   *Raw // the items that an assistant's message came as; nil if unknown or edited
}

// Raw holds the provider's own items of one answer.
type Raw struct {
	Origin Origin
	Items  [][]byte // JSON values, byte for byte
	// Calls is set by [Prepare], so that the items are read once. nil if they were not.
	Calls *RawCalls
}

// RawCalls are the calls in raw items.
type RawCalls struct {
	IDs      []string // in order
	Sendable bool     // whether the provider accepts the items
}

// A Part is a piece of a message: [Text], [Thought], [Image], [Call] or [Result].
type Part interface{ part() }

// Text is text that everybody sees.
type Text struct{ Text string }

// A Thought is visible reasoning. It is sent back only as part of a raw item.
type Thought struct{ Text string }

// An Image is a picture in a message of the user.
type Image struct {
	MediaType string // "image/png", "image/jpeg", "image/gif" or "image/webp"
	Data      []byte
}

// A Call is the model's request to call a tool.
type Call struct {
	ID        string // unique in the conversation
	Name      string
	Arguments string // as the model wrote them; not necessarily JSON
}

// A Result is the outcome of a call.
type Result struct {
	CallID string
	Text   string
	Failed bool
}

func (Text) part()    {}
func (Thought) part() {}
func (Image) part()   {}
func (Call) part()    {}
func (Result) part()  {}

// An Event is a piece of an answer for display, as soon as it arrives: [TextDelta],
// [ThoughtDelta], [Call] or [Notice].
type Event interface{ event() }

// A TextDelta continues the text.
type TextDelta string

// A ThoughtDelta continues the visible reasoning.
type ThoughtDelta string

// A Notice is a message about the request for the user, such as that it is repeated.
type Notice string

func (TextDelta) event()    {}
func (ThoughtDelta) event() {}
func (Call) event()         {}
func (Notice) event()       {}

// An Answer is the answer of a model.
type Answer struct {
	Model    string // as the provider reports it; "" if it does not
	Parts    []Part // Text, Thought and Call, in order
	Raw      *Raw   // nil if the answer is not complete
	Usage    Usage
	Stop     Stop
	Reported string // the reason why it stopped in the provider's words
}

// Calls returns the calls in the answer.
func (a Answer) Calls() []Call {
	var calls []Call
	for _, p := range a.Parts {
		if c, ok := p.(Call); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Usage counts the tokens of an answer in the same way for every provider.
type Usage struct {
	Input      int64 `json:"input"` // without cached tokens
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"` // with reasoning
	Reasoning  int64 `json:"reasoning"`
}

// Context returns the number of tokens of the request and the answer.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// A Stop is why an answer ended.
type Stop string

// The reasons for the end of an answer.
const (
	StopEnd       Stop = "end_turn"
	StopTools     Stop = "tool_use"   // the answer has calls
	StopMaxTokens Stop = "max_tokens" // cut at the limit
	StopContext   Stop = "context_window"
	StopRefusal   Stop = "refusal"
	StopPause     Stop = "pause_turn" // the provider goes on when it is asked again
	StopOther     Stop = "other"
)
