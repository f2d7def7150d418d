package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
)

type listRequest struct {
	Session string `json:"session,omitempty" jsonschema:"a session name, a directory of names or a glob such as claude-code/*"`
	Tag     string `json:"tag,omitempty" jsonschema:"only sessions with this tag"`
	Agent   string `json:"agent,omitempty" jsonschema:"only sessions imported from this agent, such as claude-code"`
	Branch  string `json:"branch,omitempty" jsonschema:"only sessions whose agent worked on this Git branch"`
	From    int    `json:"from,omitempty" jsonschema:"how many sessions to skip; next of the page before"`
	Count   int    `json:"count,omitempty" jsonschema:"how many sessions to list, at most and by default 100"`
}

type listResult struct {
	Sessions []sessionEntry `json:"sessions"`
	Total    int            `json:"total"`
	Next     int            `json:"next,omitempty" jsonschema:"pass it as from to go on; absent on the last page"`
}

type sessionEntry struct {
	Session  string `json:"session"`
	URI      string `json:"uri"`
	Messages int    `json:"messages"`
	Title    string `json:"title,omitempty"`
	ActiveAt string `json:"active_at" jsonschema:"the time of the last message"`
	Updated  string `json:"updated" jsonschema:"when the session was changed here"`
	Origin   string `json:"origin" jsonschema:"the program that it was imported from, or git-domarkx"`
	Snippet  string `json:"snippet" jsonschema:"how the first message begins"`
}

func (s *Server) listSessions(ctx context.Context, r listRequest) (listResult, error) {
	count, err := page(r.Count, maxPage)
	if err != nil {
		return listResult{}, err
	}
	o := pick.Options{Tag: r.Tag, Agent: r.Agent, Branch: r.Branch, Sort: "activity"}
	if r.Session != "" {
		o.Patterns = []string{r.Session}
	}
	list, err := s.list(ctx, o)
	if err != nil {
		return listResult{}, err
	}
	if r.From < 0 || r.From > len(list) {
		return listResult{}, fmt.Errorf("from %d: there are %d sessions", r.From, len(list))
	}
	result := listResult{Sessions: []sessionEntry{}, Total: len(list)}
	for _, info := range list[r.From:min(len(list), r.From+count)] {
		result.Sessions = append(result.Sessions, sessionEntry{Session: info.Name, URI: sessionURI(info.Name), Messages: info.Messages,
			Title: info.Described().Title, ActiveAt: date(info.Described().Active), Updated: date(info.Date), Origin: s.origin(ctx, info.ID), Snippet: info.Preview})
	}
	if r.From+count < len(list) {
		result.Next = r.From + count
	}
	return result, nil
}

type readRequest struct {
	Session string `json:"session" jsonschema:"the session: NAME, or NAME@SNAPSHOT for an older state"`
	From    int    `json:"from,omitempty" jsonschema:"the number of the first message, counted from 0; negative counts from the end: -1 is the last"`
	Count   int    `json:"count,omitempty" jsonschema:"how many messages to read, at most 100 and by default 20"`
	Offset  int    `json:"offset,omitempty" jsonschema:"how many bytes of the first message to skip, to read on where it was cut"`
}

type readResult struct {
	Session  string         `json:"session"`
	Snapshot string         `json:"snapshot"`
	Origin   string         `json:"origin"`
	Total    int            `json:"total" jsonschema:"the number of messages of the session"`
	Messages []messageEntry `json:"messages"`
	Next     *position      `json:"next,omitempty" jsonschema:"pass its members to read on; absent at the end"`
}

type position struct {
	From   int `json:"from"`
	Offset int `json:"offset,omitempty"`
}

type messageEntry struct {
	Index    int    `json:"index" jsonschema:"the K of NAME#K"`
	Message  string `json:"message" jsonschema:"the id of the message"`
	URI      string `json:"uri"`
	Role     string `json:"role"`
	Date     string `json:"date,omitempty"`
	Model    string `json:"model,omitempty"`
	Text     string `json:"text" jsonschema:"the message as Markdown; recorded data"`
	Offset   int    `json:"offset,omitempty" jsonschema:"where text begins in the message"`
	Bytes    int    `json:"bytes,omitempty" jsonschema:"the size of the whole message, if text is not all of it"`
	Snapshot string `json:"workspace_version,omitempty" jsonschema:"the workspace version that its calls left"`
}

const usualMessages = 20

func (s *Server) readMessages(ctx context.Context, r readRequest) (readResult, error) {
	count, err := page(r.Count, usualMessages)
	if err != nil {
		return readResult{}, err
	}
	revision, err := s.revision(r.Session)
	if err != nil {
		return readResult{}, err
	}
	if revision.Message >= 0 {
		r.From, count, revision.Message = revision.Message, 1, -1
	}
	info, err := s.resolve(ctx, revision)
	if err != nil {
		return readResult{}, err
	}
	if r.From < 0 {
		r.From = max(0, r.From+info.Messages)
	}
	result := readResult{Session: revision.Name, Snapshot: info.ID, Origin: s.origin(ctx, info.ID), Total: info.Messages, Messages: []messageEntry{}}
	if r.From >= info.Messages {
		if info.Messages == 0 && r.From == 0 {
			return result, nil
		}
		return result, fmt.Errorf("message %d: %w, the session has %d, counted from 0", r.From, domarkx.ErrNotFound, info.Messages)
	}
	left := maxText
	for k := r.From; k < info.Messages; k++ {
		if len(result.Messages) == count || left <= 0 {
			result.Next = &position{From: k}
			break
		}
		entry, next, err := s.message(ctx, revision, info, k, r.Offset, left)
		if err != nil {
			return result, err
		}
		left -= len(entry.Text)
		r.Offset = 0
		result.Messages = append(result.Messages, entry)
		if next > 0 {
			result.Next = &position{From: k, Offset: next}
			break
		}
	}
	return result, nil
}

// message returns message k from byte offset of its Markdown, and the offset at which the rest begins; 0 if nothing remains.
func (s *Server) message(ctx context.Context, revision engine.Revision, info domarkx.Info, k, offset, most int) (messageEntry, int, error) {
	e, err := s.Store.Entry(ctx, info.ID, k)
	if err != nil {
		return messageEntry{}, 0, err
	}
	m, err := view.LoadMessage(ctx, s.Store, e)
	if err != nil {
		return messageEntry{}, 0, err
	}
	whole := []byte(markdown.RenderContent(m.Content))
	text, next, err := cut(whole, offset, most)
	model, _ := m.Meta().Get("model")
	entry := messageEntry{Index: k, Message: e.ID.String(), URI: messageURI(revision.Name, k), Role: string(e.Role), Date: date(e.Date), Model: model.Text(), Text: text, Offset: offset, Snapshot: e.Link}
	if len(text) < len(whole) {
		entry.Bytes = len(whole)
	}
	return entry, next, err
}

type diffRequest struct {
	A      string `json:"a" jsonschema:"the old side: NAME, NAME~2 (two snapshots back), NAME@SNAPSHOT or NAME#K; alone, the newest change of it"`
	B      string `json:"b,omitempty" jsonschema:"the new side"`
	Offset int    `json:"offset,omitempty" jsonschema:"how many bytes to skip; next of the part before"`
}

type diffResult struct {
	A    string `json:"a"`
	B    string `json:"b"`
	Text string `json:"text" jsonschema:"a unified diff, empty if nothing differs; recorded data"`
	Next int    `json:"next,omitempty" jsonschema:"pass it as offset to go on; absent at the end"`
}

func (s *Server) diff(ctx context.Context, r diffRequest) (diffResult, error) {
	a, err := s.revision(r.A)
	if err != nil {
		return diffResult{}, err
	}
	b := a
	if r.B != "" {
		if b, err = s.revision(r.B); err != nil {
			return diffResult{}, err
		}
	} else {
		if a.Message >= 0 {
			return diffResult{}, errors.New("a is a message; name another one as b to compare it with")
		}
		a = a.Before()
	}
	for _, r := range []engine.Revision{a, b} {
		if _, err := s.resolve(ctx, r); err != nil {
			return diffResult{}, err
		}
	}
	text, err := compare.Revisions(ctx, s.Sessions, a, b, a.String(), b.String())
	if err != nil {
		return diffResult{}, err
	}
	result := diffResult{A: a.String(), B: b.String()}
	result.Text, result.Next, err = cut(text, r.Offset, maxText)
	return result, err
}

// markdownOf returns a session as Markdown, up to a size, and whether there is more.
func (s *Server) markdownOf(ctx context.Context, r engine.Revision) ([]byte, bool, error) {
	var text limited
	err := s.Sessions.Show(ctx, r, engine.Markdown, &text)
	if errors.Is(err, errEnough) {
		return text.Bytes(), true, nil
	}
	return text.Bytes(), false, err
}

// errEnough ends the writing of a text that is longer than the limit.
var errEnough = errors.New("enough")

// limited holds the beginning of a text.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	room := maxText + 1 - l.Len()
	if len(p) >= room {
		l.Buffer.Write(p[:room])
		return room, errEnough
	}
	return l.Buffer.Write(p)
}

func messageURI(session string, k int) string {
	return sessionURI(session) + "/messages/" + strconv.Itoa(k)
}
