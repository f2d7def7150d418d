package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Revision names a snapshot or one of its messages: NAME, NAME~2 or NAME@OID, optionally
// followed by #K or :K. NAME may be @N, which package pick completes.
type Revision struct {
	Name    string
	Back    int    // number of snapshots before the newest
	ID      string // prefix of a snapshot's id; "" for none
	Message int    // index of the message, from 0; -1 for the whole snapshot
}

// ParseRevision parses a revision. Its errors match domarkx.ErrInvalid.
func ParseRevision(s string) (Revision, error) {
	r := Revision{Message: -1}
	rest := s
	after := strings.TrimLeft(strings.TrimPrefix(s, "@"), "0123456789")
	start := len(s) - len(after) // of what follows @N
	if !strings.HasPrefix(s, "@") || start == 1 || after != "" && !strings.ContainsRune("~@#:", rune(after[0])) {
		start = 0
	}
	if i := strings.IndexAny(s[start:], "~@#:"); i >= 0 {
		r.Name, rest = s[:start+i], s[start+i:]
	} else {
		r.Name, rest = s, ""
	}
	bad := func(why string) (Revision, error) {
		return Revision{}, fmt.Errorf("revision %q: %w: %s, expected NAME, NAME~2 or NAME@OID, and #K for message K", s, domarkx.ErrInvalid, why)
	}
	if r.Name == "" {
		return bad("the session's name is missing")
	}
	for rest != "" {
		kind := rest[0]
		value := rest[1:]
		rest = ""
		if i := strings.IndexAny(value, "~@#:"); i >= 0 {
			value, rest = value[:i], value[i:]
		}
		n, err := strconv.Atoi(value)
		number := err == nil && n >= 0 && value[0] != '+'
		switch {
		case r.Message >= 0:
			return bad("nothing may follow the message number")
		case kind == '@' && value == "":
			return bad("the snapshot's id is missing")
		case kind == '@' && (r.ID != "" || r.Back > 0):
			return bad("two snapshots are named")
		case kind == '@':
			r.ID = value
		case kind == '~' && value == "":
			r.Back++
		case !number:
			return bad(fmt.Sprintf("%q is not a number", value))
		case kind == '~':
			r.Back += n
		default:
			r.Message = n
		}
		if r.Back < 0 {
			return bad("the number of snapshots is too large")
		}
	}
	return r, nil
}

// Resolve returns the snapshot that a revision names. If r has a message number, Resolve checks that the message exists. The
// error matches [domarkx.ErrNotFound] if the session does not exist, snapshot or message.
func (m *SessionManager) Resolve(ctx context.Context, r Revision) (domarkx.Info, error) {
	info, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return domarkx.Info{}, err
	}
	if r.ID != "" {
		if info, err = m.store.Find(ctx, info.ID, r.ID); err != nil {
			return domarkx.Info{}, err
		}
	}
	if r.Back > 0 {
		if info, err = m.back(ctx, info, r); err != nil {
			return domarkx.Info{}, err
		}
	}
	info.Name = r.Name
	if r.Message >= info.Messages {
		return domarkx.Info{}, fmt.Errorf("message %d of %q: %w: it has %s", r.Message, r.Name, domarkx.ErrNotFound, messageRange(info.Messages))
	}
	return info, nil
}

func messageRange(n int) string {
	switch n {
	case 0:
		return "no messages"
	case 1:
		return "one message, #0"
	}
	return fmt.Sprintf("messages #0 to #%d", n-1)
}

func (m *SessionManager) back(ctx context.Context, from domarkx.Info, r Revision) (domarkx.Info, error) {
	n := 0
	for info, err := range m.store.History(ctx, from.ID) {
		if err != nil {
			return domarkx.Info{}, err
		}
		if n == r.Back {
			return info, nil
		}
		n++
	}
	return domarkx.Info{}, fmt.Errorf("snapshot %s~%d: %w: it has %d snapshots, see git domarkx log %s", r.Name, r.Back, domarkx.ErrNotFound, n, refname.Argument(r.Name))
}
