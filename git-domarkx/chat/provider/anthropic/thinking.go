package anthropic

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A thinkingForm is a way to request reasoning. Models accept different forms, depending on their
// age (https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking), and compatible
// servers have other models. The wire therefore tries the forms in order; a table of models would be
// out of date.
type thinkingForm int32

// The forms, in the order in which they are tried.
const (
	adaptive thinkingForm = iota // thinking.type "adaptive", and output_config.effort
	budget                       // thinking.type "enabled" with budget_tokens
	unset                        // no request for reasoning
)

// budgets are the numbers of tokens for reasoning in the older form. The provider requires at least
// minBudget, and less than max_tokens.
var budgets = map[provider.Reasoning]int{provider.ReasoningLow: 2048, provider.ReasoningMedium: 8192, provider.ReasoningHigh: 24576}

const minBudget = 1024

// setThinking sets the form and the amount of reasoning of a request.
func setThinking(p provider.Object, r provider.Request, form thinkingForm, messages []provider.Message) {
	tokens := budgets[r.Reasoning]
	switch {
	case r.Reasoning == "" || form == unset:
	case r.Reasoning == provider.ReasoningOff:
		p["thinking"] = provider.Object{"type": "disabled"}
	case form == adaptive:
		p["thinking"] = provider.Object{"type": "adaptive", "display": "summarized"}
		p["output_config"] = provider.Object{"effort": r.Reasoning}
	case continuesWithoutThinking(messages):
	case r.MaxTokens == 0:
		p["max_tokens"] = defaultMaxTokens + tokens
		p["thinking"] = provider.Object{"type": "enabled", "budget_tokens": tokens}
	case r.MaxTokens >= 2*minBudget:
		p["thinking"] = provider.Object{"type": "enabled", "budget_tokens": min(tokens, r.MaxTokens/2)}
	}
}

// continuesWithoutThinking reports whether a request ends with the results of an answer's calls and
// that answer has no reasoning to send back. A request with a budget would then be refused.
func continuesWithoutThinking(messages []provider.Message) bool {
	n := len(messages)
	if n < 2 || messages[n-2].Role != provider.Assistant || len(messages[n-1].Parts) == 0 {
		return false
	}
	if _, ok := messages[n-1].Parts[0].(provider.Result); !ok {
		return false
	}
	raw := messages[n-2].Raw
	if raw == nil {
		return true
	}
	var first struct{ Type string }
	return json.Unmarshal(raw.Items[0], &first) != nil || first.Type != "thinking" && first.Type != "redacted_thinking"
}

// refusesThinking reports whether a request was refused because of its form of reasoning.
func refusesThinking(err error) bool {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return false
	}
	text := strings.ToLower(e.Message)
	if strings.Contains(text, "signature") {
		return false // the error concerns the reasoning of an earlier answer
	}
	parts := []string{"adaptive", "effort parameter", "output_config", "thinking.", "thinking:", "budget_tokens", "support thinking", "thinking is not supported"}
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
