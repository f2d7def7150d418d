package agentchatter

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// salvage returns the readable parts of a damaged document, for which ParsePartial returned v and
// broken, and reports the rest. It fails if neither a session's identity nor a message can be read.
func salvage(path string, data []byte, v domarkx.Value, broken error) (domarkx.Value, []*domarkx.SyntaxError, error) {
	v, gaps := format.Salvage(data, v, broken, isMessage, keyContext, keyMessages)
	damage := format.Damaged(path, data, broken, gaps, "messages")
	if identify(v).ID == "" && len(messagesOf(v)) == 0 {
		return v, nil, damage[0]
	}
	return v, damage, nil
}

// maxItemDepth is how deep an item of the messages may be nested: in a document that is
// parsed as a whole, three levels are around it.
const maxItemDepth = domarkx.MaxDepth - 3

// isMessage reports whether a value, possibly incomplete, is a message: it must include the
// content.
func isMessage(v domarkx.Value) bool {
	speaker, _ := v.Get(keySpeaker)
	content, _ := v.Get(keyContent)
	return speaker.Kind() == domarkx.Object && content.Kind() == domarkx.String && v.Depth() <= maxItemDepth
}
