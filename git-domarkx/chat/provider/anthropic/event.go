package anthropic

import "encoding/json"

// A streamEvent is an event of the Messages API
// (https://docs.claude.com/en/docs/build-with-claude/streaming). Strings that belong to a raw item stay JSON.
type streamEvent struct {
	Type    string
	Index   int64
	Message struct {
		Model string
		Usage usage
	}
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string
		StopReason  string `json:"stop_reason"`
		Text        json.RawMessage
		Thinking    json.RawMessage
		Signature   json.RawMessage
		PartialJSON json.RawMessage `json:"partial_json"`
		Citation    json.RawMessage
	}
	Usage usage
}

// A usage counts tokens. Each event has only some of the counts, and a later one replaces an earlier one.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Details    *struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) update(now usage) {
	for _, count := range []struct{ old, now **int64 }{{&u.Input, &now.Input}, {&u.CacheRead, &now.CacheRead}, {&u.CacheWrite, &now.CacheWrite}, {&u.Output, &now.Output}} {
		if *count.now != nil {
			*count.old = *count.now
		}
	}
	if now.Details != nil {
		u.Details = now.Details
	}
}
