package format

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// listedLosses is how many losses of a kind are listed individually.
	listedLosses = 10
	// maxLossKinds is the maximum number of kinds, and maxLossText the maximum length of a loss in
	// bytes: each message of a hostile session may lose something different.
	maxLossKinds = 1000
	maxLossText  = 300
)

// Losses collects what a format cannot represent of a session. If many messages lose the same kind
// of thing, it lists the first ones and counts the others. The zero value is empty.
type Losses struct {
	told  []string
	kinds []string // in the order of addition
	count map[string]int
	total int
}

// Add adds a loss of a message, counted from 0, or of the session if message is -1.
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
	if l.count[what]++; l.count[what] > listedLosses {
		return
	}
	if message >= 0 {
		what = fmt.Sprintf("message %d: %s", message, what)
	}
	l.told = append(l.told, what)
}

// Len returns how many things are lost.
func (l *Losses) Len() int { return l.total }

// Texts returns the listed losses in the order in which they were added, followed by the numbers of
// those that are not listed.
func (l *Losses) Texts() []string {
	texts, counted := slices.Clone(l.told), 0
	for _, what := range l.kinds {
		n := l.count[what]
		if counted += n; n > listedLosses {
			texts = append(texts, fmt.Sprintf("%d times more: %s", n-listedLosses, what))
		}
	}
	if l.total > counted {
		texts = append(texts, fmt.Sprintf("%d things more", l.total-counted))
	}
	return texts
}
