package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxLossKinds is the maximum number of kinds of losses, and maxLossText the maximum length of the name of one in bytes: each
// message of a hostile session may lose something different.
const (
	maxLossKinds = 1000
	maxLossText  = 300
)

// Losses counts the parts of a session that a format cannot represent, by kind. The zero value is empty.
type Losses struct {
	kinds []*loss          // in the order of addition
	known map[string]*loss // by unit and name
	total int
}

// A loss is a kind of thing that is lost.
type loss struct {
	what  string
	unit  string // "calls", "files" or the like; "" for a part that a session has once
	count int
	last  int // the message to which it was last added
}

// Add adds a loss of a message, counted from 0, or of the session if message is -1.
func (l *Losses) Add(message int, what string) {
	unit := "message"
	if message < 0 {
		unit = ""
	}
	if k := l.kind(what, unit); k != nil && (k.count == 0 || k.last != message) {
		k.count, k.last = k.count+1, message
	}
}

// AddOne adds the loss of one of several things, which unit names in the singular.
func (l *Losses) AddOne(unit, what string) {
	if k := l.kind(what, unit); k != nil {
		k.count++
	}
}

// kind returns the kind of a loss, or nil if there are too many kinds.
func (l *Losses) kind(what, unit string) *loss {
	if len(what) > maxLossText {
		what = strings.ToValidUTF8(what[:maxLossText], "") + "…"
	}
	l.total++
	key := unit + " " + what
	k := l.known[key]
	if k == nil && len(l.kinds) < maxLossKinds {
		if l.known == nil {
			l.known = map[string]*loss{}
		}
		k = &loss{what: what, unit: unit}
		l.known[key], l.kinds = k, append(l.kinds, k)
	}
	return k
}

// LoseHeader records what almost no format can represent of a header. metadata is the prefix of the
// names of unknown metadata.
func (t Target) LoseHeader(h domarkx.Header, metadata string) {
	if len(h.ExecutionConfig.Members()) > 0 {
		t.Lose("execution_config (session-config, workspace-config)")
	}
	if h.Setup != nil {
		t.Lose("setup_script")
	}
	for _, m := range h.MetadataExtra {
		t.Lose("%s%s", metadata, m.Name)
	}
	for _, m := range h.Extra {
		t.Lose("%s", m.Name)
	}
}

// LoseMembers records the unknown members of a message, which is counted from 0.
func (t Target) LoseMembers(message int, m domarkx.Message) {
	for _, extra := range m.Extra {
		t.LoseOf(message, "%s", extra.Name)
	}
	if slices.ContainsFunc(m.Content, func(b domarkx.Block) bool { return len(b.Extra) > 0 }) {
		t.LoseOf(message, "members of its content blocks")
	}
}

// Len returns how many things are lost.
func (l *Losses) Len() int { return l.total }

// Texts returns the losses, a text for each kind with its count, in the order in which the kinds were added.
func (l *Losses) Texts() []string {
	var texts []string
	for _, k := range l.kinds {
		switch {
		case k.unit == "":
			texts = append(texts, k.what)
		case k.count == 1:
			texts = append(texts, fmt.Sprintf("%s: 1 %s", k.what, k.unit))
		default:
			texts = append(texts, fmt.Sprintf("%s: %d %ss", k.what, k.count, k.unit))
		}
	}
	if len(l.kinds) == maxLossKinds {
		texts = append(texts, "perhaps more: only the first kinds are counted")
	}
	return texts
}
