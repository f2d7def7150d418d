package search

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
)

// places finds the places of messages in the sessions of a query.
type places struct {
	db        *database
	q         Query
	names     []string          // names of the sessions, in ascending order
	tips      []string          // their newest snapshots
	sessions  map[int64]uint32  // indexes in names, by number of the session in the index
	snapshots []string          // ids of snapshots that contain replaced texts; the first element is ""
	known     map[string]uint32 // indexes in snapshots, by binary id
	models    map[int64]string  // names of models, by number of the facet
}

// A spot is the place of a message in a session. It is small, because a search may have as many spots as the index has
// messages.
type spot struct {
	date     int64
	message  uint32
	session  uint32 // index in places.names
	k        uint32
	snapshot uint32 // index in places.snapshots
}

func compareSpots(a, b spot) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.k, b.k))
}

func (x *Index) places(q Query) *places {
	p := &places{db: x.db, q: q, sessions: map[int64]uint32{}, snapshots: []string{""}, known: map[string]uint32{}, models: map[int64]string{}}
	for s := range x.db.rows(selectSessions + " ORDER BY name") {
		if name := s.Column(1).(string); q.Sessions == nil || q.Sessions[name] {
			tip, _ := s.Column(2).([]byte)
			p.sessions[s.Int(0)] = uint32(len(p.names))
			p.names, p.tips = append(p.names, name), append(p.tips, hex.EncodeToString(tip))
		}
	}
	for s := range x.db.rows("SELECT id, name FROM facet WHERE kind = ?", modelFacet) {
		p.models[s.Int(0)], _ = s.Column(1).(string)
	}
	return p
}

// of appends the spots of a message, sorted by session.
func (p *places) of(spots []spot, message uint32) []spot {
	first := len(spots)
	tip := map[uint32]bool{} // the sessions whose tips have it
	p.each(func(m int64, s spot) {
		if m == int64(message) {
			tip[s.session] = true
			spots = append(spots, s)
		}
	}, "JOIN member ON member.leaf = leaf.id WHERE message = ?", int64(message))
	if p.q.History {
		for s := range p.db.rows("SELECT session, snapshot, k, date FROM past WHERE message = ?", int64(message)) {
			session, ok := p.sessions[s.Int(0)]
			if date := s.Int(3); ok && !tip[session] && p.inTime(date) {
				snapshot, _ := s.Column(1).([]byte)
				spots = append(spots, spot{date: date, message: message, session: session, k: uint32(s.Int(2)), snapshot: p.snapshot(snapshot)})
			}
		}
	}
	slices.SortFunc(spots[first:], compareSpots)
	return spots
}

// snapshot returns the index of a snapshot in snapshots, and adds the snapshot if necessary.
func (p *places) snapshot(id []byte) uint32 {
	i, ok := p.known[string(id)]
	if !ok {
		i = uint32(len(p.snapshots))
		p.snapshots = append(p.snapshots, hex.EncodeToString(id))
		p.known[string(id)] = i
	}
	return i
}

// together returns the spots of messages, sorted by message, or nil if it takes less time to find them one by one.
func (p *places) together(messages []uint32) []spot {
	const few = 100
	if p.q.History || len(messages) < few || int64(len(messages)) < few+p.db.number("SELECT max(id) FROM leaf")/8 {
		return nil
	}
	var wanted set
	for _, message := range messages {
		wanted = wanted.add(int64(message))
	}
	many := make([]spot, 0, len(messages))
	p.newest(func(message int64, s spot) {
		if wanted.has(message) {
			many = append(many, s)
		}
	})
	slices.SortFunc(many, func(a, b spot) int { return cmp.Or(cmp.Compare(a.message, b.message), compareSpots(a, b)) })
	return many
}

// all returns the spots of messages, in their order.
func (p *places) all(messages []uint32) (spots []spot) {
	many := p.together(messages)
	for _, message := range messages {
		if many == nil {
			spots = p.of(spots, message)
			continue
		}
		at, _ := slices.BinarySearchFunc(many, message, func(s spot, message uint32) int { return cmp.Compare(s.message, message) })
		for ; at < len(many) && many[at].message == message; at++ {
			spots = append(spots, many[at])
		}
	}
	return spots
}

// first returns the spots of the first messages, as many as the query allows.
func (p *places) first(messages []uint32) (spots []spot) {
	for limit := p.q.Limit; len(messages) > 0 && (limit == 0 || len(spots) < limit); {
		n := len(messages)
		if limit > 0 {
			n = min(n, 2*limit) // some messages may not be in the wanted sessions
		}
		spots, messages = append(spots, p.all(messages[:n])...), messages[n:]
	}
	return spots
}

// newest calls f with the messages in the newest snapshots of the sessions of the query whose dates match the query.
func (p *places) newest(f func(message int64, s spot)) {
	if p.q.Sessions == nil {
		p.each(f, "")
		return
	}
	for session := range p.sessions {
		p.each(f, "WHERE session = ?", session)
	}
}

// each calls f with the messages in some of these leaves.
func (p *places) each(f func(message int64, s spot), where string, args ...any) {
	for s := range p.db.rows("SELECT session, number, entries FROM place JOIN leaf ON leaf.id = place.leaf "+where, args...) {
		session, ok := p.sessions[s.Int(0)]
		if !ok {
			continue
		}
		data, _ := s.Column(2).([]byte)
		entries, err := decodeLeaf(data)
		p.db.fail(err)
		for i, e := range entries {
			if p.inTime(e.date) && e.message >= 0 && e.message <= math.MaxUint32 {
				f(e.message, spot{date: e.date, message: uint32(e.message), session: session, k: uint32(s.Int(1)*leafWidth) + uint32(i)})
			}
		}
	}
}

// leafWidth is the number of messages in a leaf (gitstore/SPEC.md, section 3).
const leafWidth = 16

func (p *places) inTime(date int64) bool {
	return (p.q.Since.IsZero() || date >= p.q.Since.Unix()) && (p.q.Until.IsZero() || date < p.q.Until.Unix())
}
