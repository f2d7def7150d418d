package toolcall

import "github.com/domarkx/domarkx"

// declinedMember marks the result of a call that the user declined.
const declinedMember = "declined"

// Declined returns the outcome of a call that was not made because the user did not allow it.
func Declined(message string) Outcome {
	return Outcome{Code: domarkx.CodeRefused, Message: message, declined: true}
}

// isDeclined reports whether block i of a message is a call that the user declined. Such a call is
// a record: it is not pending, no command makes it, and trust does not cover it. Without its
// result it is a call like any other.
func isDeclined(content []domarkx.Block, i int) bool {
	if i+1 >= len(content) || content[i].Type != domarkx.CodeBlock || content[i].Language != Language {
		return false
	}
	next := content[i+1]
	return next.Type == domarkx.CodeBlock && next.Language == ResultLanguage && ParseOutcome(next.Text).declined
}
