package engine

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx"
)

// soundLinks takes from messages of a snapshot the links that do not count: those to
// what is no parent in the session's history. Only this program's own calls make
// such parents; anybody can write a link.
func (m *SessionManager) soundLinks(ctx context.Context, snapshot string, messages []domarkx.Entry) error {
	var links []string
	for _, e := range slices.Backward(messages) {
		if e.Link != "" {
			links = append(links, e.Link)
		}
	}
	if len(links) == 0 {
		return nil
	}
	linked, err := m.store.Linked(ctx, snapshot, links)
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
