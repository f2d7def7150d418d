package engine

import (
	"context"

	"github.com/domarkx/domarkx"
)

// soundLinks takes from messages of a snapshot the links that do not count: those to
// what is no parent in the session's history. Only this program's own calls make
// such parents; anybody can write a link.
func (m *SessionManager) soundLinks(ctx context.Context, snapshot string, messages []domarkx.Entry) error {
	linked, err := m.linked(ctx, snapshot, domarkx.EntryList(messages))
	if err != nil {
		return err
	}
	for i := range messages {
		if !linked[messages[i].Link] {
			messages[i].Link = ""
		}
	}
	return nil
}

// linked returns the links of messages of a snapshot that count.
func (m *SessionManager) linked(ctx context.Context, snapshot string, messages domarkx.Entries) (map[string]bool, error) {
	var links []string
	seen := map[string]bool{"": true}
	for i := messages.Len() - 1; i >= 0; i-- { // the newest are found first
		if link := messages.At(i).Link; !seen[link] {
			seen[link] = true
			links = append(links, link)
		}
	}
	if len(links) == 0 {
		return nil, nil
	}
	return m.store.Linked(ctx, snapshot, links)
}
