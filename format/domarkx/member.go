package domarkx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// located is a [syntax.Error] with the byte offset of the error, from which [Locate] computes line and
// column.
type located struct {
	at     *syntax.Error
	offset int
}

func (e *located) Error() string { return e.at.Error() }
func (e *located) Unwrap() error { return e.at }

// Locate fills in the line and column of an error that [ParseMessage] or [ParseHeader] returned for
// a value parsed from data. It returns other errors unchanged.
func Locate(err error, data []byte) error {
	var at *located
	if !errors.As(err, &at) {
		return err
	}
	e := *at.at
	e.Line, e.Column = syntax.Position(data, at.offset)
	return &e
}

func badValue(v jsonvalue.Value, at, msg string) error {
	return &located{&syntax.Error{Pointer: at, Msg: msg}, v.Offset()}
}

func wrongKind(v jsonvalue.Value, at, expected string) error {
	subject := ""
	if at == "" {
		subject = "the JSON text "
	}
	return badValue(v, at, fmt.Sprintf("%sis %s, expected %s", subject, syntax.Article(v.Kind().String()), expected))
}

// An object is a JSON object whose members are read. After the first error, all members are null.
type object struct {
	jsonvalue.Value
	at  string // its JSON pointer
	err error
}

// fail records an error, if it is the first.
func (o *object) fail(err error) { o.err = cmp.Or(o.err, err) }

// required returns the member with that name. It is an error if there is none or it has another kind.
func (o *object) required(name string, kind jsonvalue.Kind) jsonvalue.Value {
	return o.member(name, kind, true)
}

// optional returns the member with that name, or null if there is none. It is an error if the
// member is neither null nor of that kind.
func (o *object) optional(name string, kind jsonvalue.Kind) jsonvalue.Value {
	return o.member(name, kind, false)
}

func (o *object) member(name string, kind jsonvalue.Kind, isRequired bool) jsonvalue.Value {
	m, ok := o.Get(name)
	switch {
	case o.err != nil || !isRequired && m.Kind() == jsonvalue.Null:
	case !ok:
		o.err = badValue(o.Value, o.at+"/"+name, fmt.Sprintf("required member %q is missing, expected %s", name, syntax.Article(kind.String())))
	case m.Kind() != kind:
		o.err = wrongKind(m, o.at+"/"+name, syntax.Article(kind.String()))
	default:
		return m
	}
	return jsonvalue.Value{}
}

// extra returns the members with unknown names, and the known members that are null: they have no
// meaning, but must not be lost. It omits a null that a later member of the same name replaces.
func extra(v jsonvalue.Value, known ...string) []jsonvalue.Member {
	null := make([]bool, len(known)) // whether the last member of that name is null
	for _, m := range v.Members() {
		if i := slices.Index(known, m.Name); i >= 0 {
			null[i] = m.Value.Kind() == jsonvalue.Null
		}
	}
	var rest []jsonvalue.Member
	for _, m := range v.Members() {
		if i := slices.Index(known, m.Name); i < 0 || null[i] && m.Value.Kind() == jsonvalue.Null {
			rest = append(rest, m)
		}
	}
	return rest
}
