package openpocket

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	format "github.com/domarkx/domarkx/format/openpocket"
)

// maxUpload limits the base64 text of an upload, in characters.
const maxUpload = 6_000_000

// extension maps media types to file extensions.
func extension(mime string) string {
	mime = strings.ToLower(mime)
	for _, known := range []struct{ part, ext string }{
		{"png", "png"}, {"jpeg", "jpg"}, {"jpg", "jpg"}, {"webp", "webp"}, {"json", "json"},
	} {
		if strings.Contains(mime, known.part) {
			return known.ext
		}
	}
	return "bin"
}

// kinds maps kinds of JSON payloads to their members and the kinds of those.
var kinds = map[string]map[string]jsonvalue.Kind{
	"text":    {"value": jsonvalue.String},
	"qr_text": {"value": jsonvalue.String},
	"geo":     {"lat": jsonvalue.Number, "lon": jsonvalue.Number},
}

func isKnownKind(payload jsonvalue.Value) bool {
	kind, _ := payload.Get("kind")
	return kinds[kind.Text()] != nil
}

// storeArtifact stores the payload of an approval.
func (r *resource) storeArtifact(_ context.Context, a arguments) (jsonvalue.Value, error) {
	payload, isJSON := a.Get("json")
	if isJSON == a.has("base64") {
		return jsonvalue.Value{}, invalid("expected either base64 or json")
	}
	mime := a.text("mime")
	var data []byte
	var err error
	switch {
	case isJSON:
		if mime == "" {
			mime = "application/json"
		}
		if extension(mime) != "json" {
			return jsonvalue.Value{}, invalid("mime is %q, expected application/json for json", mime)
		}
		if err := checkPayload(payload); err != nil {
			return jsonvalue.Value{}, err
		}
		data = []byte(format.WellFormed(payload.JSON()))
	case len(a.text("base64")) > maxUpload:
		return jsonvalue.Value{}, invalid("base64 has %d characters, expected at most %d", len(a.text("base64")), maxUpload)
	default:
		if data, err = decode(a, "base64"); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	name := artifactsDir + "/" + a.text("request_id") + "." + extension(mime)
	err = r.create(name, 0o644, data)
	if errors.Is(err, fs.ErrExist) {
		return jsonvalue.Value{}, invalid("%q exists already; a request has only one artifact of a type", name)
	}
	return jsonvalue.ObjectOf("path", name, "bytes", len(data)), err
}

// checkPayload returns an error if a JSON payload of a known kind lacks members.
func checkPayload(payload jsonvalue.Value) error {
	kind, _ := payload.Get("kind")
	for name, want := range kinds[kind.Text()] {
		if v, _ := payload.Get(name); v.Kind() != want {
			return invalid("/arguments/json/%s: expected a %s in a payload of kind %q", name, want, kind.Text())
		}
	}
	return nil
}
