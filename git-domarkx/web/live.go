package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// Intervals: how often live checks the session for changes, and how often it sends a ping, which fails if the browser is gone.
const (
	lookEvery = 500 * time.Millisecond
	pingEvery = 15 * time.Second
)

// live sends the messages of a session that are new or changed, from a message on, as long as
// the browser listens (server-sent events). If the session changed before that message, it says so.
func (s *Server) live(w http.ResponseWriter, r *http.Request, name string) error {
	from, err := strconv.Atoi(r.URL.Query().Get("from"))
	if err != nil || from < 0 {
		return fmt.Errorf("message %q: %w", r.URL.Query().Get("from"), domarkx.ErrInvalid)
	}
	known, err := s.Sessions.Resolve(r.Context(), revision(r, name, "at"))
	if errors.Is(err, domarkx.ErrNotFound) { // the session has another history now, such as one without a secret
		_, err = s.Sessions.Resolve(r.Context(), engine.Revision{Name: name, Message: -1})
		known = domarkx.Info{}
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	if err := out.Flush(); err != nil || r.Method == http.MethodHead {
		return nil //nolint:nilerr // the browser is gone
	}
	look, ping := time.NewTicker(lookEvery), time.NewTicker(pingEvery)
	defer look.Stop()
	defer ping.Stop()
	for {
		select {
		case <-r.Context().Done():
			return nil
		case <-ping.C:
			fmt.Fprint(w, ": still here\n\n")
		case <-look.C:
			event, now := s.news(r, name, known, from)
			if event == "" {
				continue
			}
			known, from = now, max(from, now.Messages-1)
			fmt.Fprint(w, event)
		}
		if err := out.Flush(); err != nil {
			return nil //nolint:nilerr // the browser is gone
		}
	}
}

// news returns the server-sent event about the messages that are new since the snapshot known, and the newest snapshot. The event
// is "" if nothing is new. Its id is the address of the events after it. It is "changed", so that the browser reloads, if an
// earlier message changed, a message is gone, or the new messages do not fit on a page.
func (s *Server) news(r *http.Request, name string, known domarkx.Info, from int) (string, domarkx.Info) {
	const changed = "event: changed\ndata: {}\n\n"
	now, err := s.Sessions.Resolve(r.Context(), engine.Revision{Name: name, Message: -1})
	switch {
	case errors.Is(err, domarkx.ErrNotFound):
		return changed, known
	case err != nil || now.ID == known.ID:
		return "", known
	}
	if now.Messages < from || now.Messages > from+messagesShown || !s.grew(r, known, now, from) {
		return changed, now
	}
	id := func(k int) domarkx.ID {
		e, _ := s.Store.Entry(r.Context(), now.ID, k) // html.Render reports the error
		return e.ID
	}
	for from > 0 && from < now.Messages && id(from) == id(from-1) {
		from-- // the texts of a merge conflict have one id, and their anchors count from the first
	}
	end, err := s.begin(r.Context())
	if err != nil {
		return "", known
	}
	defer end()
	shown, _, err := s.pages(r, engine.Revision{Name: name, ID: now.ID, Message: -1})
	if err != nil {
		return "", known
	}
	size := int64(0)
	for k := from; k < now.Messages; k++ {
		size += shown.Size(k)
	}
	if size > textShown {
		return changed, now
	}
	part, err := html.Render(shown, from, shown.Messages.Len())
	if err != nil {
		return "", known
	}
	data, err := json.Marshal(string(bytes.ToValidUTF8(part.Messages, []byte("\ufffd"))))
	if err != nil {
		return "", known
	}
	next := at("/live/", name, "at", now.ID, "from", strconv.Itoa(max(from, now.Messages-1)))
	return "id: " + next + "\ndata: " + string(data) + "\n\n", now
}

// grew reports whether snapshot b has all messages of snapshot a, and the same text in the message before message from.
func (s *Server) grew(r *http.Request, a, b domarkx.Info, from int) bool {
	if a.ID == "" || a.Messages > b.Messages {
		return false
	}
	before := max(0, from-1)
	x, err := s.Store.EntriesBetween(r.Context(), a.ID, before, a.Messages)
	if err != nil {
		return false
	}
	y, err := s.Store.EntriesBetween(r.Context(), b.ID, before, a.Messages)
	return err == nil && slices.EqualFunc(x, y, func(x, y domarkx.Entry) bool { return x.ID == y.ID }) &&
		(from == 0 || len(x) > 0 && x[0].JSON.ID == y[0].JSON.ID)
}
