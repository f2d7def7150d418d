package transcript

import "github.com/domarkx/domarkx"

// What Gemini CLI and its relatives write: contents of parts, as the API of Gemini has them.

// ResponseResult returns the result in a functionResponse.
func ResponseResult(v domarkx.Value) Result {
	r := Result{ID: Text(v, "id"), Value: Get(v, "response")}
	if failed := Get(r.Value, "error"); failed.Kind() != domarkx.Null {
		r.Failed, r.Value = true, failed
	} else if output := Get(r.Value, "output"); output.Kind() != domarkx.Null {
		r.Value = output
	}
	if r.Value.Kind() != domarkx.String {
		r.Value = Str(Indented(r.Value))
	}
	return r
}

// InlineImage returns the image in a part with inlineData.
func InlineImage(part domarkx.Value) Image {
	return Image{Text(part, "inlineData", "mimeType"), Text(part, "inlineData", "data")}
}

// TextParts returns the texts of a turn as parts.
func TextParts(t Turn) []domarkx.Value {
	var parts []domarkx.Value
	for _, p := range t.Parts {
		for _, piece := range Pieces(p.Text) {
			if i := piece.Image; i != nil {
				parts = append(parts, Object("inlineData", Object("mimeType", i.Type, "data", i.Data)))
			} else {
				parts = append(parts, Object("text", piece.Text))
			}
		}
	}
	return parts
}
