package gemini

import (
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// This file reads contents, lists of parts as in the Gemini API, for Gemini CLI and programs derived
// from it.

// ResponseResult returns the result in a part with functionResponse.
func ResponseResult(v jsonvalue.Value) transcript.Result {
	r := transcript.Result{ID: transcript.Text(v, "id"), Value: transcript.Get(v, "response")}
	if failed := transcript.Get(r.Value, "error"); failed.Kind() != jsonvalue.Null {
		r.Failed, r.Value = true, failed
	} else if output := transcript.Get(r.Value, "output"); output.Kind() != jsonvalue.Null {
		r.Value = output
	}
	if r.Value.Kind() != jsonvalue.String {
		r.Value = transcript.Str(transcript.Indented(r.Value))
	}
	return r
}

// InlineImage returns the image in a part with inlineData.
func InlineImage(part jsonvalue.Value) mdtext.Image {
	return mdtext.Image{Type: transcript.Text(part, "inlineData", "mimeType"), Data: transcript.Text(part, "inlineData", "data")}
}

// TextParts returns the texts of a turn as parts.
func TextParts(t transcript.Turn) []jsonvalue.Value {
	return t.Items(func(s string) jsonvalue.Value { return transcript.Object("text", s) }, func(i mdtext.Image) jsonvalue.Value {
		return transcript.Object("inlineData", transcript.Object("mimeType", i.Type, "data", i.Data))
	})
}

// Response returns the part with functionResponse for a call and its result.
func Response(p transcript.Part) jsonvalue.Value {
	member := "output"
	if p.Result.Failed {
		member = "error"
	}
	return transcript.Object("functionResponse", transcript.Object("id", p.Call.ID, "name", p.Call.Tool, "response", transcript.Object(member, p.Result.Said())))
}
