package turns

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/google/uuid"
)

// ownIdentity gives the state of a fork an identity of its own in the format of its header, so
// that the format's program does not treat the fork as a save of the original session. It reports
// whether a codec changed the identity.
func (m *Manager) ownIdentity(ctx context.Context, name string, from domarkx.Info, cut bool, state *domarkx.State, at time.Time) (bool, error) {
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "fork\x00%s\x00%s\x00%d", name, from.ID, at.UnixNano()))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, as the programs create them
	for _, codec := range m.sessions.Codecs() {
		if codec.Fork == nil {
			continue
		}
		own, ok := codec.Fork(h, format.Fork{UUID: id.String(), At: at, Cut: cut})
		if !ok {
			continue
		}
		own.SnapshotID, own.ImportTimestamp = "", ""
		next := domarkx.HeaderEntry{JSON: domarkx.Blob{Data: view.PrettyJSON(own.Value())}, Layout: markdown.WriteHeader(own).Layout, Includes: state.Headers[0].Includes}
		state.Headers = domarkx.ReviseHeader(state.Headers, next, view.NormalHeader(own))
		return true, nil
	}
	return false, nil
}
