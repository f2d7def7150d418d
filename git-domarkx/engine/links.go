package engine

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
)

// SoundLinks clears the links of messages that are not trustworthy: those to versions that are
// not parents in the session's history. Only calls by this program create such parents, but
// anybody can write a link into a message.
func (m *SessionManager) SoundLinks(ctx context.Context, snapshot string, messages []domarkx.Entry) error {
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

// linked returns the links of a snapshot's messages that are trustworthy.
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
