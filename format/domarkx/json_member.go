package domarkx

import (
	"errors"
	"fmt"
	"slices"
)

// located is a SyntaxError with the byte offset of the error, from which [Locate] computes line and
// column.
type located struct {
	*SyntaxError
	offset int
}

func (e *located) Unwrap() error { return e.SyntaxError }

// Locate fills in the line and column of an error that [ParseMessage] or [ParseHeader] returned for
// a value parsed from data. It returns other errors unchanged.
func Locate(err error, data []byte) error {
	var at *located
	if !errors.As(err, &at) {
		return err
	}
	e := *at.SyntaxError
	e.Line, e.Column = Position(data, at.offset)
	return &e
}

func badValue(v Value, at, msg string) error {
	return &located{&SyntaxError{Pointer: at, Msg: msg}, v.Offset()}
}

func wrongKind(v Value, at, expected string) error {
	subject := ""
	if at == "" {
		subject = "the JSON text "
	}
	return badValue(v, at, fmt.Sprintf("%sis %s, expected %s", subject, article(v.kind), expected))
}

// article puts "a" or "an" before a kind.
func article(k Kind) string {
	switch k {
	case Null:
		return k.String()
	case Array, Object:
		return "an " + k.String()
	}
	return "a " + k.String()
}

// required returns the member with that name. It is an error if there is none or it has another
// kind. at is the JSON pointer of v.
func required(v Value, at, name string, kind Kind) (Value, error) {
	m, ok := v.Get(name)
	if !ok {
		return m, badValue(v, at+"/"+name, fmt.Sprintf("required member %q is missing, expected %s", name, article(kind)))
	}
	if m.kind != kind {
		return m, wrongKind(m, at+"/"+name, article(kind))
	}
	return m, nil
}

// optional returns the member with that name, or null if there is none. It is an error if the
// member is neither null nor of that kind. at is the JSON pointer of v.
func optional(v Value, at, name string, kind Kind) (Value, error) {
	m, ok := v.Get(name)
	if !ok || m.kind == Null {
		return Value{}, nil
	}
	if m.kind != kind {
		return m, wrongKind(m, at+"/"+name, article(kind))
	}
	return m, nil
}

// extra returns the members with unknown names, and the known members that are null: they have no
// meaning, but must not be lost. It omits a null that a later member of the same name replaces.
func extra(v Value, known ...string) []Member {
	null := make([]bool, len(known)) // whether the last member of that name is null
	for _, m := range v.Members() {
		if i := slices.Index(known, m.Name); i >= 0 {
			null[i] = m.Value.kind == Null
		}
	}
	var rest []Member
	for _, m := range v.Members() {
		if i := slices.Index(known, m.Name); i < 0 || null[i] && m.Value.kind == Null {
			rest = append(rest, m)
		}
	}
	return rest
}
