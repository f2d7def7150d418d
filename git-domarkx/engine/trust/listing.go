package trust

import (
	"context"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Runs describes one thing that a session can run.
type Runs struct {
	Where string // such as "message 3", "setup script" or "workspace"
	What  string // such as the language and name of a block
	Text  string // the complete text
}

// Listing returns everything that a snapshot can run, in order: its configuration, additions by the repository, the setup
// script, and the calls and named code blocks of the assistant's messages.
func (m *Manager) Listing(ctx context.Context, info domarkx.Info) ([]Runs, error) {
	if err := m.ReadProject(); err != nil {
		return nil, err
	}
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return nil, err
	}
	var all []Runs
	for _, name := range []string{configEngine, configImage} {
		if v, ok := h.ExecutionConfig.Get(name); ok {
			all = append(all, Runs{"session-config", name, v.Text()})
		}
	}
	if v, ok := h.ExecutionConfig.Get(configWorkspace); ok {
		all = append(all, Runs{"workspace-config", "resources", string(v.AppendJSON(nil, "", "  "))})
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return nil, err
	}
	if added != nil {
		all = append(all, *added)
	}
	seen, err := m.seenTools(ctx, info)
	if err != nil {
		return nil, err
	}
	for _, t := range seen {
		all = append(all, t.runs)
	}
	if h.Setup != nil {
		all = append(all, Runs{"setup script", h.Setup.Language, h.Setup.Code})
	}
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return nil, err
		}
		for _, b := range toolcall.Runnable(msg) {
			what := b.Language
			if b.Name != "" {
				what = strings.TrimSpace(what + " " + b.Name)
			}
			all = append(all, Runs{"message " + strconv.Itoa(k), what, b.Text})
		}
	}
	return all, nil
}
