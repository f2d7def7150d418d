package search

import (
	"context"
	"errors"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Kind is how a search reads the text of a query.
type Kind int

// The kinds of searches.
const (
	Words  Kind = iota // words and phrases; the best hits are first
	Fixed              // a text as it is; the newest hits are first
	Regexp             // a regular expression (RE2); the newest hits are first
)

// A Query describes the messages to find. An empty Role, Model, Tool or Path, nil Sessions, and a zero Since, Until or
// Limit restrict nothing.
type Query struct {
	Text   string
	Kind   Kind
	Advice string // what to do instead, for errors about the words in Text; "" for none

	Role     domarkx.Role    // of the message
	Model    string          // of the message: a name or glob
	Tool     string          // of a call in the message: a name or glob, of TOOL or RESOURCE__TOOL
	Path     string          // in the arguments of a call: a glob
	Sessions map[string]bool // names of sessions
	Since    time.Time       // earliest date
	Until    time.Time       // end of the dates: the first one that is too late
	History  bool            // whether to find also texts that were replaced; needs [Options.History]
	Limit    int             // maximum number of hits
	Width    int             // maximum number of characters in a snippet; 0 stands for 160

	// Prose says that messages with a word of the query in their own text come before those that have them only in calls and
	// results, and that snippets are of that text where they can. Each hit takes the time to read its message.
	Prose bool
}

// A Hit is a message that was found, in one session. A message in several sessions has a hit for each.
type Hit struct {
	Session  string
	K        int
	Snapshot string // id of the snapshot; "" if the message is in the newest one
	Commit   string // id of the snapshot in any case
	Date     int64  // in Unix seconds
	Role     domarkx.Role
	Model    string
	Snippet  string   // one line of the text, with the first match
	Matches  [][2]int // start and end of each match, as byte offsets in Snippet
}

func (x *Index) remake(ctx context.Context) error {
	_ = x.Close() // an error would be due to the damage
	if x.temp {
		list, err := x.list(ctx, nil)
		if err != nil {
			return err
		}
		return x.openTemporary(ctx, list, errors.New("the temporary search index is damaged"))
	}
	if err := removeIndex(x.path); err != nil {
		return err
	}
	return x.update(ctx, false)
}
