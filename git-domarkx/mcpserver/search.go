package mcpserver

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"github.com/domarkx/domarkx/git-domarkx/find/when"
)

type searchRequest struct {
	Query   string `json:"query" jsonschema:"words that a message must all have, \"phrases\", prefix*, NOT word, OR between alternatives; parts of identifiers are found too"`
	Kind    string `json:"kind,omitempty" jsonschema:"words (the default, best first), fixed (the text as it is) or regexp (RE2); fixed and regexp return the newest first"`
	Role    string `json:"role,omitempty" jsonschema:"user or assistant"`
	Model   string `json:"model,omitempty" jsonschema:"the model that wrote it, a name or glob"`
	Tool    string `json:"tool,omitempty" jsonschema:"only messages that call this tool, a name or glob"`
	Path    string `json:"path,omitempty" jsonschema:"only messages with calls that name such a path, a glob; the end of it is enough"`
	Session string `json:"session,omitempty" jsonschema:"a session name, a directory of names or a glob"`
	Tag     string `json:"tag,omitempty" jsonschema:"only sessions with this tag"`
	Since   string `json:"since,omitempty" jsonschema:"2w (two weeks ago), 2026-11-01 or 2026-11-01T12:00"`
	Until   string `json:"until,omitempty" jsonschema:"likewise; a day is included"`
	History bool   `json:"history,omitempty" jsonschema:"also texts that were replaced"`
	From    int    `json:"from,omitempty" jsonschema:"how many matches to skip; next of the page before"`
	Count   int    `json:"count,omitempty" jsonschema:"how many messages to return, at most 100 and by default 20"`
}

type searchResult struct {
	Matches []searchMatch `json:"matches"`
	More    bool          `json:"more,omitempty" jsonschema:"whether there are more"`
	Next    int           `json:"next,omitempty" jsonschema:"pass it as from to go on; absent on the last page"`
}

type searchMatch struct {
	Session  string `json:"session"`
	Index    int    `json:"index" jsonschema:"the K of NAME#K; pass it as from to read_messages"`
	Message  string `json:"message,omitempty" jsonschema:"the id of the message"`
	URI      string `json:"uri"`
	Snapshot string `json:"snapshot,omitempty" jsonschema:"the snapshot that has the text, if it was replaced since"`
	Role     string `json:"role"`
	Date     string `json:"date"`
	Model    string `json:"model,omitempty"`
	Origin   string `json:"origin"`
	Snippet  string `json:"snippet" jsonschema:"one line around the match; recorded data"`
}

func (r searchResult) links() []sdk.Content {
	var links []sdk.Content
	for _, m := range r.Matches {
		if m.Snapshot == "" {
			links = append(links, &sdk.ResourceLink{URI: m.URI, Name: fmt.Sprintf("%s#%d", m.Session, m.Index), MIMEType: markdownType})
		}
	}
	return links
}

const usualMatches = 20

func (s *Server) search(ctx context.Context, r searchRequest) (searchResult, error) {
	q, err := s.query(ctx, r)
	if err != nil {
		return searchResult{}, err
	}
	hits, err := search.Find(ctx, s.Store, q, search.Options{Warn: s.Warn})
	if err != nil {
		return searchResult{}, err
	}
	result := searchResult{Matches: []searchMatch{}}
	if len(hits) == q.Limit {
		hits, result.More, result.Next = hits[:q.Limit-1], true, q.Limit-1
	}
	hits = hits[min(r.From, len(hits)):]
	origins, idOf := map[string]string{}, search.MessageIDs(ctx, s.Store)
	for _, h := range hits {
		if _, ok := origins[h.Session]; !ok {
			if tip, err := s.Store.Tip(ctx, h.Session); err == nil {
				origins[h.Session] = s.origin(ctx, tip.ID)
			}
		}
		result.Matches = append(result.Matches, searchMatch{Session: h.Session, Index: h.K, Message: idOf(h), URI: messageURI(h.Session, h.K), Snapshot: h.Snapshot, Role: string(h.Role),
			Date: date(h.Date), Model: h.Model, Origin: origins[h.Session], Snippet: h.Snippet})
	}
	return result, nil
}

// maxFrom is the maximum number of matches that a page can come after.
const maxFrom = 1_000_000

// query returns the query of a client's request. Its limit is one more than the last match of the page,
// to detect that more matches exist.
func (s *Server) query(ctx context.Context, r searchRequest) (search.Query, error) {
	count, err := page(r.Count, usualMatches)
	q := search.Query{Text: r.Query, Advice: `kind "fixed" searches for a text as it is`, Model: r.Model, Tool: r.Tool, Path: r.Path, History: r.History, Limit: r.From + count + 1}
	if err == nil && (r.From < 0 || r.From > maxFrom) {
		err = fmt.Errorf("from %d: expected 0 to %d", r.From, maxFrom)
	}
	if err == nil && r.Role != "" {
		q.Role, err = domarkx.ParseRole(r.Role)
	}
	switch r.Kind {
	case "", "words":
	case "fixed":
		q.Kind = search.Fixed
	case "regexp":
		q.Kind = search.Regexp
	default:
		return q, fmt.Errorf("kind %q: expected words, fixed or regexp", r.Kind)
	}
	now := time.Now()
	if err == nil && r.Since != "" {
		q.Since, err = when.Since(r.Since, now)
	}
	if err == nil && r.Until != "" {
		q.Until, err = when.Until(r.Until, now)
	}
	if err != nil || s.Pattern == "" && r.Session == "" && r.Tag == "" {
		return q, err
	}
	o := pick.Options{Tag: r.Tag}
	if r.Session != "" {
		o.Patterns = []string{r.Session}
	}
	list, err := s.list(ctx, o)
	q.Sessions = map[string]bool{}
	for _, info := range list {
		q.Sessions[info.Name] = true
	}
	return q, err
}
