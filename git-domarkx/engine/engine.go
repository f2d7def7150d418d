// Package engine implements the SessionManager: everything that users can do with sessions and their workspaces. It connects
// the codecs of package format with the store in package gitstore, and does not depend on how sessions are displayed.
package engine

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// SessionManager creates, reads and changes sessions. Its methods are safe for concurrent use.
type SessionManager struct {
	store  *gitstore.Store
	env    local.Environment
	codecs []format.Codec
	*transaction.Updates

	lengths lengths // cached lengths of messages
}

// New returns a manager for the sessions in a store. Without a store, it can only work on documents, and needs no redactor.
func New(store *gitstore.Store, codecs []format.Codec, env local.Environment, redactor transaction.Redactor) *SessionManager {
	return &SessionManager{store: store, env: env, codecs: codecs, Updates: transaction.New(store, trust.New(store, env), redactor)}
}

// Codecs returns the codecs of all formats.
func (m *SessionManager) Codecs() []format.Codec { return m.codecs }

// Warn reports a problem that does not end the operation.
func (m *SessionManager) Warn(err error) {
	if m.env.Warn != nil {
		m.env.Warn(err)
	}
}

// Codec returns the codec with that name, or an error that matches domarkx.ErrUnsupported.
func (m *SessionManager) Codec(name string) (format.Codec, error) {
	codec, ok := format.ByName(m.codecs, name)
	if ok {
		return codec, nil
	}
	var names []string
	for _, codec := range m.codecs {
		names = append(names, codec.Name)
	}
	return codec, fmt.Errorf("format %q: %w, expected one of %s", name, domarkx.ErrUnsupported, strings.Join(names, ", "))
}
