package domarkx

import (
	"fmt"
	"strings"
)

// Literal returns ErrInvalid when one of the keys of the config has a ${NAME} in its
// value. A plugin calls it for what it stores in versions or gives to programs as an
// argument, where others can read it.
func (e Env) Literal(keys ...string) error {
	for _, key := range keys {
		written, ok := e.Written.Get(key)
		if value, _ := e.Config.Get(key); ok && Expanded(written, value) {
			return fmt.Errorf("config /%s: ${NAME} cannot be used here, because versions or argument lists would show its value: %w; write the value itself", key, ErrInvalid)
		}
	}
	return nil
}

// Expanded reports whether a value of a config differs from what the document has by
// more than $${, which stands for ${.
func Expanded(written, value Value) bool {
	switch written.Kind() {
	case String:
		return strings.ReplaceAll(written.Text(), "$${", "${") != value.Text()
	case Array:
		for i, item := range written.Items() {
			if Expanded(item, value.Items()[i]) {
				return true
			}
		}
	case Object:
		for i, member := range written.Members() {
			if Expanded(member.Value, value.Members()[i].Value) {
				return true
			}
		}
	}
	return false
}
