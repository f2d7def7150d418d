package openai

import "encoding/json"

// A responsesRequest is the body of a request by the Responses API, without its input
// (https://developers.openai.com/api/reference/resources/responses/methods/create).
type responsesRequest struct {
	Model           string          `json:"model"`
	Store           bool            `json:"store"`
	Include         []string        `json:"include,omitempty"`
	MaxOutputTokens int             `json:"max_output_tokens,omitempty"`
	Reasoning       *reasoning      `json:"reasoning,omitempty"`
	Instructions    string          `json:"instructions,omitempty"`
	Tools           []responsesTool `json:"tools,omitempty"`
	Stream          bool            `json:"stream"`
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type        string                     `json:"type"`
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Strict      bool                       `json:"strict"`
}

// An inputItem is a message, a call or the output of one.
type inputItem struct {
	Type      string         `json:"type"`
	Role      string         `json:"role,omitempty"`
	Content   []inputContent `json:"content,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments *string        `json:"arguments,omitempty"`
	Output    *string        `json:"output,omitempty"`
}

type inputContent struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
}

// A streamEvent holds the members of all events of a stream that a [responsesAnswer] uses.
type streamEvent struct {
	Type        string         `json:"type"`
	OutputIndex int64          `json:"output_index"`
	Delta       string         `json:"delta"`
	Response    streamResponse `json:"response"`
}

type streamResponse struct {
	Model  string `json:"model"`
	Status string `json:"status"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct { // floating-point because some servers write 12.0
		Input   float64 `json:"input_tokens"`
		Output  float64 `json:"output_tokens"`
		Details struct {
			Cached  float64 `json:"cached_tokens"`
			Written float64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning float64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// An outputItem is a completed item of an answer.
type outputItem struct {
	Type      string        `json:"type"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Content   []outputPiece `json:"content"`
	Summary   []outputPiece `json:"summary"`
}

type outputPiece struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}
