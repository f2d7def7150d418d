package domarkx

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Literal returns ErrInvalid if the value of one of these keys of the config contains ${NAME}. A
// plugin calls it for values that it stores in versions or passes to programs as arguments, where
// others can read them.
func (e Env) Literal(keys ...string) error {
	for _, key := range keys {
		written, ok := e.Written.Get(key)
		if value, _ := e.Config.Get(key); ok && Expanded(written, value) {
			return fmt.Errorf("config /%s: ${NAME} cannot be used here, because versions or argument lists would show its value: %w; write the value itself", key, ErrInvalid)
		}
	}
	return nil
}

// Expanded reports whether environment variables were inserted into a value of a config: whether it
// differs from written, the value in the document, after $${, the escape for ${, is replaced in
// that.
func Expanded(written, value jsonvalue.Value) bool {
	switch written.Kind() {
	case jsonvalue.String:
		return strings.ReplaceAll(written.Text(), "$${", "${") != value.Text()
	case jsonvalue.Array:
		for i, item := range written.Items() {
			if Expanded(item, value.Items()[i]) {
				return true
			}
		}
	case jsonvalue.Object:
		for i, member := range written.Members() {
			if Expanded(member.Value, value.Members()[i].Value) {
				return true
			}
		}
	}
	return false
}
