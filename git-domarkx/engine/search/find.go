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

// A Kind is how a search reads the text of a query.
type Kind int

const (
	Words  Kind = iota // words and phrases; the best hits are first
	Fixed              // a text as it is; the newest hits are first
	Regexp             // a regular expression (RE2); the newest hits are first
)

// A Query describes the messages to find. An empty Role, Model, Tool or Path, nil Sessions, and a zero Since, Until or
// Limit restrict nothing.
type Query struct {
	Text string
	Kind Kind

	Role     domarkx.Role    // of the message
	Model    string          // of the message: a name or glob
	Tool     string          // of a call in the message: a name or glob, of TOOL or RESOURCE__TOOL
	Path     string          // in the arguments of a call: a glob
	Sessions map[string]bool // names of sessions
	Since    int64           // earliest date, in Unix seconds
	Until    int64           // end of the dates, in Unix seconds: the first one that is too late
	History  bool            // whether to find also texts that were replaced; needs [Options.History]
	Limit    int             // maximum number of hits
	Width    int             // maximum number of characters in a snippet; 0 stands for 160
}

// A Hit is a message that was found, in one session. A message in several sessions has a hit for each.
type Hit struct {
	Session  string
	K        int
	Snapshot string // id of the snapshot; "" if the message is in the newest one
	Date     int64  // in Unix seconds
	Role     domarkx.Role
	Model    string
	Snippet  string   // one line of the text, with the first match
	Matches  [][2]int // start and end of each match, as byte offsets in Snippet

	message int64
}

// Search returns the hits of a query. If it finds the index damaged, it makes the index again. It returns
// [domarkx.ErrInvalid] for an invalid query.
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
	x.db.close() // an error would be due to the damage
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
	if err := x.db.begin("DEFERRED"); err != nil { // all queries of the search see the same state
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

// words finds messages with the full-text index.
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

// ofBest returns the hits of messages, those of the best messages first, and at most as many as the query allows.
func (p *places) ofBest(ctx context.Context, found []ranking) (hits []Hit, err error) {
	n := len(found)
	if p.q.Limit > 0 {
		n = 2 * p.q.Limit // some messages may not be in the wanted sessions
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

// places finds the places of messages in the sessions of a query.
type places struct {
	db       *database
	q        Query
	sessions map[int64]string
	many     []placed // places of the prepared messages, sorted by message; nil if none are prepared
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

// of returns the hits of a message, one for each place, sorted by session.
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

// placed is a place of a message.
type placed struct{ message, session, k, date int64 }

// prepare finds the places of many messages together, if that takes less time than finding them one by one.
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

// prepared returns the hits of a message whose places were prepared.
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

// leafWidth is the number of messages in a leaf (gitstore/SPEC.md, section 3).
const leafWidth = 16

func (p *places) inTime(date int64) bool {
	return (p.q.Since == 0 || date >= p.q.Since) && (p.q.Until == 0 || date < p.q.Until)
}
