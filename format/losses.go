package format

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// toldLosses is how many losses of a kind are told one by one.
	toldLosses = 10
	// maxLossKinds is how many kinds are told apart, and maxLossText how many bytes of each
	// are kept: a hostile session may lose something else with each message.
	maxLossKinds = 1000
	maxLossText  = 300
)

// Losses are what a session has and a format cannot hold. What is lost of many messages
// is told of the first ones, and counted for the others. The zero Losses are none.
type Losses struct {
	told  []string
	kinds []string // in the order in which they came
	count map[string]int
	total int
}

// Add adds a loss, of a message or, for -1, of the session.
func (l *Losses) Add(message int, what string) {
	if len(what) > maxLossText {
		what = strings.ToValidUTF8(what[:maxLossText], "") + "…"
	}
	l.total++
	if l.count == nil {
		l.count = map[string]int{}
	}
	if l.count[what] == 0 {
		if len(l.kinds) == maxLossKinds {
			return
		}
		l.kinds = append(l.kinds, what)
	}
	if l.count[what]++; l.count[what] > toldLosses {
		return
	}
	if message >= 0 {
		what = fmt.Sprintf("message %d: %s", message, what)
	}
	l.told = append(l.told, what)
}

// Len returns how many things are lost.
func (l *Losses) Len() int { return l.total }

// Texts says what is lost, in the order in which it was added, and at the end how much
// more there is of what.
func (l *Losses) Texts() []string {
	texts, counted := slices.Clone(l.told), 0
	for _, what := range l.kinds {
		n := l.count[what]
		if counted += n; n > toldLosses {
			texts = append(texts, fmt.Sprintf("%d times more: %s", n-toldLosses, what))
		}
	}
	if l.total > counted {
		texts = append(texts, fmt.Sprintf("%d things more", l.total-counted))
	}
	return texts
}
