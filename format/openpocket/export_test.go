package openpocket

import (
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// ReadsBack reports whether a document reads back correctly, by pieces and as a whole.
func ReadsBack(doc *domarkx.Document) (apart, whole bool) {
	e := encoder{doc: doc.Header, messages: format.Conversation(doc.Conversation)}
	_ = e.find() // the messages are in memory
	apart, _ = e.readsBack()
	whole, _ = e.readsBackWhole()
	return apart, whole
}
