// Package provider defines requests to language models and their answers, independent of the wire
// formats of providers.
//
// The packages below it implement the wire formats. Each sends a [Request] and returns an [Answer]
// with raw items, which are the provider's own JSON, byte for byte. A raw item is sent back only to
// the [Origin] that it came from. It contains ids, signatures and encrypted reasoning that no other
// provider, host or model accepts.
//
// The requests and events are types of these packages, with the members that we use. The vendors' SDKs would be half of the
// program, register their types at each start, read keys from the environment, retry without a notice, and describe the machine
// in headers. Of OpenAI's SDK, the decoder of streams is linked. "make test-sdks" decodes what the tests' server answers
// with both SDKs.
package provider

import "context"

// A Wire sends requests to one model in the format of its provider.
type Wire interface {
	// Origin identifies the model. Only raw items of the same origin are sent to it.
	Origin() Origin
	// Stream sends a request and calls emit for each piece of the answer as it arrives. If the
	// answer breaks off, Stream returns the incomplete answer, without raw items, and an error (see
	// [Error]).
	Stream(ctx context.Context, r Request, emit func(Event)) (Answer, error)
	// Parts returns the content of raw items: the parts that Stream returned with them. It returns
	// an error if the items contain anything else that the provider would read, because raw items
	// can come from another person's session.
	Parts(items [][]byte) ([]Part, error)
}

// An Origin identifies the model that raw items came from.
type Origin struct {
	Provider string `json:"provider"` // "anthropic", "openai", "openai-chat" or "gemini"
	Host     string `json:"host"`     // host of the URL, with the port if it has one
	Model    string `json:"model"`    // name as requested
}

// A Request is a conversation for a model to continue.
type Request struct {
	System    []string // system prompts, in order
	Messages  []Message
	Tools     []Tool
	MaxTokens int       // maximum length of the answer in tokens; 0 for the wire's default
	Reasoning Reasoning // "" for the model's default
	// Plain omits all raw items, after a provider refused them.
	Plain bool
}

// A Reasoning is the amount of reasoning before an answer.
type Reasoning string

// The amounts of reasoning.
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
	Schema      []byte // JSON Schema of the arguments, of type object
}

// A Role is the author role of a message.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one contribution to the conversation. A message of the assistant may contain the
// results of its calls.
type Message struct {
	Role  Role
	Parts []Part
	Raw   *Raw // the provider's items of an assistant's message; nil if unknown or edited
}

// Raw holds the provider's own items of one answer.
type Raw struct {
	Origin Origin
	Items  [][]byte // JSON values, byte for byte
}

// A Part is a piece of a message: [Text], [Thought], [Image], [Call] or [Result].
type Part interface{ part() }

// Text is visible text.
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
	Arguments string // as written by the model; not necessarily JSON
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

// An Event is a piece of an answer, emitted as soon as it arrives: [TextDelta], [ThoughtDelta],
// [Call] or [Notice].
type Event interface{ event() }

// A TextDelta is the next piece of the text.
type TextDelta string

// A ThoughtDelta is the next piece of the visible reasoning.
type ThoughtDelta string

// A Notice is a message for the user about the request, such as that it is retried.
type Notice string

func (TextDelta) event()    {}
func (ThoughtDelta) event() {}
func (Call) event()         {}
func (Notice) event()       {}

// An Answer is the answer of a model.
type Answer struct {
	Model    string // as reported by the provider; may be ""
	Parts    []Part // Text, Thought and Call, in order
	Raw      *Raw   // nil if the answer is incomplete
	Usage    Usage
	Stop     Stop
	Reported string // the provider's name for the reason Stop
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

// Usage counts tokens in a uniform way for all providers.
type Usage struct {
	Input      int64 `json:"input"` // excludes cached tokens
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"` // includes reasoning
	Reasoning  int64 `json:"reasoning"`
}

// Context returns the number of tokens of the request and the answer.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// A Stop is the reason why an answer ended.
type Stop string

// The reasons why answers end.
const (
	StopEnd       Stop = "end_turn"
	StopTools     Stop = "tool_use"   // the answer contains calls
	StopMaxTokens Stop = "max_tokens" // cut off at the limit of tokens
	StopContext   Stop = "context_window"
	StopRefusal   Stop = "refusal"
	StopPause     Stop = "pause_turn" // the provider continues the answer on the next request
	StopOther     Stop = "other"
)
