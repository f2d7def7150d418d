package usage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Store reads sessions.
type Store interface {
	Entries(ctx context.Context, id string) iter.Seq2[domarkx.Entry, error]
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
}

// A Reader reads the responses in sessions. It caches them in a directory; the cache can be removed
// at any time.
type Reader struct {
	Store Store
	// Agent returns the agent whose transcript a session was imported from, or "".
	Agent func(ctx context.Context, info domarkx.Info) string
	Dir   string // state directory of the repository, with the cache; "" for no cache
}

// A session holds the rows of one snapshot.
type session struct {
	tip   string // id of the snapshot
	agent string
	first int64 // date of the first message, in Unix seconds
	rows  []answer
}

// An answer is a row with its message.
type answer struct {
	id   domarkx.ID // id of the message
	date int64      // Unix seconds
	row
}

// Responses returns the responses in the selected sessions, without duplicates. all are the newest
// snapshots of all sessions; their cached rows are kept. If some sessions cannot be read, Responses
// returns the responses in the others together with an error.
func (r *Reader) Responses(ctx context.Context, selected, all []domarkx.Info) ([]Response, error) {
	known, unread := r.load(ctx, selected, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return merge(selected, known), unread
}

// Tokens returns how many tokens the responses in each of the selected sessions used, by the ids of their snapshots. A response
// that several sessions share counts in all of them. The errors are those of [Reader.Responses].
func (r *Reader) Tokens(ctx context.Context, selected, all []domarkx.Info) (map[string]int64, error) {
	known, unread := r.load(ctx, selected, all)
	tokens := make(map[string]int64, len(selected))
	for _, info := range selected {
		for _, response := range merge([]domarkx.Info{info}, known) {
			tokens[info.ID] += response.Input + response.CacheRead + response.CacheWrite + response.Output
		}
	}
	return tokens, unread
}

// load returns the rows of the selected sessions by the ids of their snapshots, and writes those that were not in the cache to it.
func (r *Reader) load(ctx context.Context, selected, all []domarkx.Info) (map[string]*session, error) {
	var cached []session
	if content, ok := derived.Usage.Read(r.Dir); ok {
		cached = decodeCache(content)
	}
	known := make(map[string]*session, len(cached))
	for i := range cached {
		known[cached[i].tip] = &cached[i]
	}
	var missing []domarkx.Info
	for _, info := range selected {
		if known[info.ID] == nil {
			missing = append(missing, info)
		}
	}
	if len(missing) == 0 {
		return known, nil
	}
	unread := r.readAll(ctx, missing, cached, known)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var keep []session
	seen := map[string]bool{}
	for _, info := range all {
		if s := known[info.ID]; s != nil && !seen[info.ID] {
			keep = append(keep, *s)
			seen[info.ID] = true
		}
	}
	_ = derived.Usage.Write(r.Dir, encodeCache(keep)) // the repository may be read-only
	return known, unread
}

func (r *Reader) readAll(ctx context.Context, missing []domarkx.Info, cached []session, known map[string]*session) error {
	rows := map[oid.ID]*row{} // by message
	for i := range cached {
		for k := range cached[i].rows {
			a := &cached[i].rows[k]
			rows[a.blob] = &a.row
		}
	}
	var mu sync.Mutex
	var errs []error
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for _, info := range missing {
		workers.Go(func() error {
			s, err := r.session(ctx, info, rows)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("reading %s: %w", info.Name, err))
			} else {
				known[info.ID] = s
			}
			return nil
		})
	}
	return errors.Join(append(errs, workers.Wait())...)
}

// session reads a snapshot. rows are the known rows of messages.
func (r *Reader) session(ctx context.Context, info domarkx.Info, rows map[oid.ID]*row) (*session, error) {
	s := &session{tip: info.ID, agent: r.Agent(ctx, info), rows: make([]answer, 0, min(info.Messages/2+1, 1<<16))}
	for e, err := range r.Store.Entries(ctx, info.ID) {
		if err != nil {
			return nil, err
		}
		if s.first == 0 {
			s.first = e.Date
		}
		if e.Role != domarkx.Assistant {
			continue
		}
		blob, err := oid.Parse(e.JSON.ID)
		if err != nil {
			return nil, fmt.Errorf("message %s: %w: it has no blob", e.ID, domarkx.ErrCorrupt)
		}
		known := rows[blob]
		if known == nil {
			data, err := r.Store.Read(ctx, e.JSON)
			if err != nil {
				return nil, err
			}
			fresh := read(data)
			fresh.blob, known = blob, &fresh
		}
		s.rows = append(s.rows, answer{e.ID, e.Date, *known})
	}
	return s, nil
}

// merge returns the responses in sessions without duplicates. A response in several sessions counts
// for the session that began first; of several, for the first one by name.
func merge(selected []domarkx.Info, known map[string]*session) []Response {
	order := slices.Clone(selected)
	order = slices.DeleteFunc(order, func(i domarkx.Info) bool { return known[i.ID] == nil })
	slices.SortStableFunc(order, func(a, b domarkx.Info) int { return int(min(1, max(-1, known[a.ID].first-known[b.ID].first))) })
	total := 0
	for _, info := range order {
		total += len(known[info.ID].rows)
	}
	responses := make([]Response, 0, total)
	keys := make(map[key]struct{}, total)
	ids := make(map[domarkx.ID]struct{}, total)
	for _, info := range order {
		s := known[info.ID]
		for i := range s.rows {
			a := &s.rows[i]
			if a.by == nobody {
				continue
			}
			_, hadID := ids[a.id]
			ids[a.id] = struct{}{}
			if a.key != (key{}) {
				_, had := keys[a.key]
				keys[a.key] = struct{}{}
				hadID = hadID || had
			}
			if hadID {
				continue
			}
			agent := s.agent
			if a.by == ourselves {
				agent = chatAgent
			}
			responses = append(responses, Response{Session: info.Name, Agent: agent, Model: a.model, Branch: a.branch, Date: a.date,
				Cost: a.cost, Tokens: a.Tokens})
		}
	}
	return responses
}
