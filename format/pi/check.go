package pi

import (
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/transcript"
)

// isSound reports whether an entry is of a frequent kind and obviously valid. It saves validation
// by the schema, which takes longer than reading the line. False does not mean invalid.
func isSound(v domarkx.Value) bool {
	if _, ok := format.ParseTime(transcript.Text(v, keyTimestamp)); !ok || transcript.Text(v, keyID) == "" {
		return false
	}
	parent, ok := v.Get(keyParentID)
	if !ok || parent.Kind() != domarkx.Null && parent.Kind() != domarkx.String || transcript.Text(v, keyType) != typeMessage {
		return false
	}
	m, _ := v.Get(keyMessage)
	content, _ := m.Get(keyContent)
	if at, ok := m.Get(keyTimestamp); ok && at.Kind() != domarkx.Number {
		return false
	}
	switch transcript.Text(m, keyRole) {
	case roleUser:
		return content.Kind() == domarkx.String || soundParts(content, partText, partImage)
	case roleToolResult:
		failed, _ := m.Get(keyIsError)
		return areStrings(m, keyToolCallID, keyToolName) && failed.Kind() == domarkx.Bool && soundParts(content, partText, partImage)
	case roleAssistant:
		usage, _ := m.Get("usage")
		return areStrings(m, "api", "provider", "model") && usage.Kind() == domarkx.Object && !transcript.Has(m, "errorMessage") &&
			isOne(transcript.Text(m, "stopReason"), "stop", "length", "toolUse", "error", "aborted") && soundParts(content, partText, partThinking, partToolCall)
	}
	return false
}

// areStrings reports whether an object has strings of these names.
func areStrings(v domarkx.Value, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		m, ok := v.Get(name)
		return !ok || m.Kind() != domarkx.String
	})
}

func soundParts(content domarkx.Value, kinds ...string) bool {
	if content.Kind() != domarkx.Array {
		return false
	}
	for _, item := range content.Items() {
		kind := transcript.Text(item, keyType)
		if !slices.Contains(kinds, kind) {
			return false
		}
		switch kind {
		case partText:
			if !areStrings(item, keyText) {
				return false
			}
		case partImage:
			if !areStrings(item, keyData, keyMimeType) {
				return false
			}
		case partThinking:
			if signature, ok := item.Get(keySignature); !areStrings(item, keyThinking) || ok && signature.Kind() != domarkx.String {
				return false
			}
		case partToolCall:
			if arguments, _ := item.Get(keyArguments); !areStrings(item, keyID, keyName) || arguments.Kind() != domarkx.Object {
				return false
			}
		}
	}
	return true
}
