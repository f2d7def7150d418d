package agentchatter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A scanner splits a document at its messages. The caller must parse the messages and the rest, because
// encoding/json accepts what package jsonvalue does not.
type scanner struct {
	*json.Decoder
	*pieces
	item func(extent) error
	seen map[string]bool
}

// scan passes each message to item, and sets p.inside. A document that is not an object is a
// *damagedError.
func (p *pieces) scan(item func(extent) error) error {
	p.inside = extent{}
	s := scanner{json.NewDecoder(io.NewSectionReader(p.file.Content, p.start, p.file.Size-p.start)), p, item, map[string]bool{}}
	s.UseNumber()
	err := s.document()
	if p.inside.from == 0 { // there are no messages
		p.inside = extent{s.at(), s.at()}
	}
	return err
}

// at returns the offset behind the last token.
func (s *scanner) at() int64 { return s.start + s.InputOffset() }

func (s *scanner) document() error {
	if first, err := s.Token(); err != nil || first != json.Delim('{') {
		return cmp.Or(s.damage(err, "the document"), error(&damagedError{at: s.start, msg: "is not an object"}))
	}
	err := s.members(func(name string) error {
		if name != keyContext {
			return s.skip()
		}
		return s.only(name, '{', func() error {
			return s.members(func(name string) error {
				if name != keyMessages {
					return s.skip()
				}
				return s.only(name, '[', s.messages)
			})
		})
	})
	if err != nil {
		return err
	}
	end := s.at()
	if _, err := s.Token(); !errors.Is(err, io.EOF) {
		return &damagedError{at: end, msg: "has something after the document"}
	}
	return nil
}

// members reads the rest of an object. It calls member for each name, which must read the value.
func (s *scanner) members(member func(name string) error) error {
	for s.More() {
		name, err := s.Token()
		if err != nil {
			return s.damage(err, "a member")
		}
		if err := member(name.(string)); err != nil {
			return err
		}
	}
	_, err := s.Token()
	return s.damage(err, "a member")
}

// only calls read for the rest of the value of a member that begins with that bracket, and skips any
// other value. The member may be there only once: of several, JSON readers would use the last one.
func (s *scanner) only(name string, bracket json.Delim, read func() error) error {
	if s.seen[name] {
		return &damagedError{at: s.at(), msg: fmt.Sprintf("has the member %q twice", name)}
	}
	s.seen[name] = true
	token, err := s.Token()
	if token == bracket {
		return read()
	}
	for depth := 0; err == nil; token, err = s.Token() {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
	return s.damage(err, "a value")
}

func (s *scanner) skip() error {
	var raw json.RawMessage
	return s.damage(s.Decode(&raw), "a value")
}

// messages reads the rest of the array of messages.
func (s *scanner) messages() error {
	s.inside = extent{s.at(), s.at()}
	for s.More() {
		var raw json.RawMessage
		if err := s.Decode(&raw); err != nil {
			return s.damage(err, "a message")
		}
		s.inside.to = s.at()
		if err := s.item(extent{s.at() - int64(len(raw)), s.at()}); err != nil {
			return err
		}
	}
	_, err := s.Token()
	s.inside.to = s.at() - int64(len("]"))
	return s.damage(err, "a message")
}

// damage returns a *damagedError for an error of the decoder that is about the document. what is being
// read.
func (s *scanner) damage(err error, what string) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &damagedError{at: s.file.Size, msg: "unexpected end of the document in a value"}
	case !errors.As(err, &syntax):
		return fmt.Errorf("%s: %w", s.file.Path, err)
	}
	at := s.at()
	text, err := s.bytes(extent{at, min(at+1024, s.file.Size)})
	at += int64(len(text) - len(bytes.TrimLeft(text, " \t\r\n")))
	return cmp.Or(err, error(&damagedError{at: at, msg: what + " here is not valid JSON: " + syntax.Error()}))
}
