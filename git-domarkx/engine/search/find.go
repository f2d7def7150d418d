package search

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A Kind says how the text of a query is to be read.
type Kind int

const (
	Words  Kind = iota // words and phrases, best matches first
	Fixed              // a text as it is, newest first
	Regexp             // a regular expression (RE2), newest first
)

// A Query describes the messages to find.
type Query struct {
	Text string
	Kind Kind

	Role     domarkx.Role    // "" for any
	Model    string          // a name or glob; "" for any
	Tool     string          // likewise, of a tool that the message calls: TOOL or RESOURCE__TOOL
	Path     string          // a glob of paths in the arguments of its calls
	Sessions map[string]bool // nil for all
	Since    int64           // in Unix seconds; 0 for no limit
	Until    int64           // likewise; the first second that is too late
	History  bool            // also texts that were replaced; needs [Options.History]
	Limit    int             // the number of hits; 0 for all
	Width    int             // the most characters in a snippet; 0 for a default
}

// A Hit is a message that was found, in one session.
type Hit struct {
	Session  string
	K        int
	Snapshot string // "" if the message is in the newest one
	Date     int64  // in Unix seconds
	Role     domarkx.Role
	Model    string
	Snippet  string   // one line around the first match
	Matches  [][2]int // byte offsets in Snippet

	message int64
}

// Search returns the hits of a query. If the index turns out to be damaged, it is made again.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := x.search(ctx, q)
	if err == nil || !isDamaged(err) || ctx.Err() != nil {
		return hits, err
	}
	if err := x.remake(ctx); err != nil {
		return nil, err
	}
	return x.search(ctx, q)
}

// remake makes a damaged index again.
func (x *Index) remake(ctx context.Context) error {
	x.db.close() // its error is the damage
	x.db = nil
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

func (x *Index) search(ctx context.Context, q Query) (hits []Hit, err error) {
	stop := x.db.conn.Watch(ctx)
	defer stop()
	if err := x.db.begin("DEFERRED"); err != nil { // all that follows sees one state
		return nil, err
	}
	defer func() {
		if err = x.db.end(err); ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	m, err := newMatching(q)
	if err != nil {
		return nil, err
	}
	allowed, err := x.allowed(q)
	if err != nil {
		return nil, err
	}
	p, err := x.places(q)
	if err != nil {
		return nil, err
	}
	if q.Kind == Words {
		return x.words(ctx, q, m, allowed, p)
	}
	return x.scan(ctx, q, m, allowed, p)
}

// words finds messages by the full-text index.
func (x *Index) words(ctx context.Context, q Query, m *matching, allowed set, p *places) ([]Hit, error) {
	found, err := x.rank(m.groups)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r ranking) bool { return !allowed.has(r.message) })
	hits, err := p.ofBest(ctx, found)
	if err != nil {
		return nil, err
	}
	return hits, x.describe(ctx, hits, m)
}

// ofBest returns the hits of messages, the best first, as many as the query wants.
func (p *places) ofBest(ctx context.Context, found []ranking) (hits []Hit, err error) {
	n := len(found)
	if p.q.Limit > 0 {
		n = 2 * p.q.Limit // some may not be in the sessions
	}
	for done := 0; done < len(found); n *= 8 {
		ordered := best(found, n)
		if err := p.prepare(len(ordered), func(i int) int64 { return ordered[i].message }); err != nil {
			return nil, err
		}
		for _, f := range ordered[done:] {
			some, err := p.of(f.message)
			if err != nil {
				return nil, err
			}
			if hits = append(hits, some...); p.q.Limit > 0 && len(hits) >= p.q.Limit {
				return hits[:p.q.Limit], nil
			}
		}
		if done = len(ordered); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return hits, nil
}

// places finds where the sessions of a query have messages.
type places struct {
	db       *database
	q        Query
	sessions map[int64]string
	many     []placed // of the messages that were prepared, in their order; nil if none were
}

func (x *Index) places(q Query) (*places, error) {
	p := &places{db: x.db, q: q, sessions: map[int64]string{}}
	return p, x.db.query("SELECT id, name FROM session", func(s *sqlite3.Stmt) error {
		if name := s.Column(1).(string); q.Sessions == nil || q.Sessions[name] {
			p.sessions[s.Int(0)] = name
		}
		return nil
	})
}

// of returns the hits of a message, by session.
func (p *places) of(message int64) ([]Hit, error) {
	if p.many != nil {
		return p.prepared(message), nil
	}
	var leaves []int64
	err := p.db.query("SELECT leaf FROM message WHERE id = ?1 UNION SELECT leaf FROM shared WHERE message = ?1", func(s *sqlite3.Stmt) error {
		leaves = append(leaves, s.Int(0))
		return nil
	}, message)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	tip := map[int64]bool{}
	for _, leaf := range leaves {
		err := p.db.query("SELECT session, number, entries FROM place JOIN leaf ON leaf.id = leaf WHERE leaf = ?", func(s *sqlite3.Stmt) error {
			tip[s.Int(0)] = true
			name, ok := p.sessions[s.Int(0)]
			if !ok {
				return nil
			}
			entries, err := decodeLeaf(s.Column(2).([]byte))
			for i, e := range entries {
				if e.message == message && p.inTime(e.date) {
					hits = append(hits, Hit{Session: name, K: int(s.Int(1))*leafWidth + i, Date: e.date, message: message})
				}
			}
			return err
		}, leaf)
		if err != nil {
			return nil, err
		}
	}
	if p.q.History {
		err = p.db.query("SELECT session, snapshot, k, date FROM past WHERE message = ?", func(s *sqlite3.Stmt) error {
			name, ok := p.sessions[s.Int(0)]
			snapshot, _ := s.Column(1).([]byte)
			if date := s.Int(3); ok && !tip[s.Int(0)] && p.inTime(date) {
				hits = append(hits, Hit{Session: name, Snapshot: hex.EncodeToString(snapshot), K: int(s.Int(2)), Date: date, message: message})
			}
			return nil
		}, message)
	}
	slices.SortFunc(hits, compareHits)
	return hits, err
}

// placed is where a session has a message.
type placed struct{ message, session, k, date int64 }

// prepare finds the places of many messages together, if that takes less time.
func (p *places) prepare(n int, message func(i int) int64) error {
	p.many = nil
	leaves, err := p.db.number("SELECT max(id) FROM leaf")
	if err != nil || p.q.History || int64(n) < 100+leaves/8 {
		return err
	}
	var wanted set
	for i := range n {
		wanted = wanted.add(message(i))
	}
	p.many = make([]placed, 0, n)
	err = p.each(func(message, session int64, k int, date int64) {
		if message >= 0 && wanted.has(message) {
			p.many = append(p.many, placed{message, session, int64(k), date})
		}
	})
	slices.SortStableFunc(p.many, func(a, b placed) int { return cmp.Compare(a.message, b.message) })
	return err
}

// prepared returns the hits of a message that was prepared.
func (p *places) prepared(message int64) (hits []Hit) {
	at, _ := slices.BinarySearchFunc(p.many, message, func(p placed, message int64) int { return cmp.Compare(p.message, message) })
	for ; at < len(p.many) && p.many[at].message == message; at++ {
		m := p.many[at]
		hits = append(hits, Hit{Session: p.sessions[m.session], K: int(m.k), Date: m.date, message: message})
	}
	slices.SortFunc(hits, compareHits)
	return hits
}

func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.K, b.K))
}

// leafWidth is the number of messages of a leaf (gitstore/SPEC.md, section 3).
const leafWidth = 16

func (p *places) inTime(date int64) bool {
	return (p.q.Since == 0 || date >= p.q.Since) && (p.q.Until == 0 || date < p.q.Until)
}
