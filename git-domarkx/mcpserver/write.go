package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

type appendRequest struct {
	Session string `json:"session" jsonschema:"the name of the session"`
	Text    string `json:"text" jsonschema:"the message, in Markdown"`
	Role    string `json:"role,omitempty" jsonschema:"user (the default) or assistant"`
	New     bool   `json:"new,omitempty" jsonschema:"create the session if it does not exist"`
}

type writeResult struct {
	Session  string `json:"session"`
	Snapshot string `json:"snapshot"`
	Messages int    `json:"messages"`
	URI      string `json:"uri"`
}

// appendMessage adds a message. It is foreign text: none of it becomes a call or configuration, so trust need not be extended.
func (s *Server) appendMessage(ctx context.Context, r appendRequest) (writeResult, error) {
	if !s.offers(r.Session) {
		return writeResult{}, s.notOffered("session", r.Session)
	}
	role := domarkx.User
	if r.Role != "" {
		var err error
		if role, err = domarkx.ParseRole(r.Role); err != nil {
			return writeResult{}, err
		}
	}
	content := chat.Foreign(r.Text)
	if len(content) == 0 {
		return writeResult{}, errors.New("the text is empty")
	}
	if err := s.exists(ctx, r.Session); errors.Is(err, domarkx.ErrNotFound) && !r.New {
		return writeResult{}, fmt.Errorf("%w; new creates a session", err)
	}
	info, err := s.Turns.Append(ctx, turns.AppendRequest{Name: r.Session, New: r.New, Role: string(role), Content: content})
	return written(info), s.taken(r.Session, err)
}

type forkRequest struct {
	Session string `json:"session" jsonschema:"the session to begin with: NAME, NAME@SNAPSHOT, or NAME#K to end with message K"`
	New     string `json:"new" jsonschema:"the name of the new session"`
}

func (s *Server) fork(ctx context.Context, r forkRequest) (writeResult, error) {
	revision, err := s.revision(r.Session)
	if err != nil {
		return writeResult{}, err
	}
	if !s.offers(r.New) {
		return writeResult{}, fmt.Errorf("new name %q: not among those that this server offers, which match %q", r.New, s.Pattern)
	}
	if _, err := s.resolve(ctx, revision); err != nil {
		return writeResult{}, err
	}
	fork, err := s.Turns.ForkUntrusted(ctx, revision, r.New)
	return written(fork.Info), s.taken(r.New, err)
}

// taken replaces an error about a name that cannot be used, which may quote a name that is not offered.
func (s *Server) taken(name string, err error) error {
	if s.Pattern == "" || !errors.Is(err, domarkx.ErrExists) {
		return err
	}
	return fmt.Errorf("session name %q: it, or one that it would clash with, %w; choose another", name, domarkx.ErrExists)
}

func written(info domarkx.Info) writeResult {
	return writeResult{Session: info.Name, Snapshot: info.ID, Messages: info.Messages, URI: sessionURI(info.Name)}
}
