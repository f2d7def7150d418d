// Package openai implements two APIs of OpenAI: Responses
// (https://developers.openai.com/api/reference/resources/responses) and Chat Completions. Many
// other servers implement the latter, such as Gemini's OpenAI-compatible endpoint
// (https://ai.google.dev/gemini-api/docs/openai).
//
// A raw item of Responses is an output item as received. The raw item of Chat Completions is the
// message: its strings arrive in pieces, which are joined without decoding them, and all other
// values remain as received.
package openai

import (
	"encoding/base64"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// effort returns the name of an effort in both APIs, or "" for the model's own.
func effort(r provider.Reasoning) string {
	if r == provider.ReasoningOff {
		return "none"
	}
	return string(r)
}

func dataURL(i provider.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

func validID(id string) bool { return provider.IsName(id, 40) }
