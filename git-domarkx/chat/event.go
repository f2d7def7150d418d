package chat

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// An Event is a step of a turn for display: a [provider.Event], [CallEvent], [ResultEvent], [MessageEvent] or
// [UsageEvent].
type Event any

// A CallEvent is a call that the model requests, before the user is asked for approval.
type CallEvent struct{ turns.PendingCall }

// A ResultEvent is the recorded result of a call.
type ResultEvent struct{ turns.CallResult }

// A MessageEvent is a message that was stored.
type MessageEvent struct {
	domarkx.Info // the snapshot with the message
	Index        int
	ID           domarkx.ID
	Message      domarkx.Message
}

// A UsageEvent is the number of tokens that an answer used, and its cost.
type UsageEvent struct {
	Model string
	provider.Usage
	Cost float64 // USD; 0 if the price is unknown
}
