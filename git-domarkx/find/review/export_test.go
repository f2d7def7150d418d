package review

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// Parse exports parse for tests.
func Parse(out string) ([]File, error) { return parse([]byte(out)) }

// CommandsIn exports commandsIn for tests.
func CommandsIn(msg domarkx.Message) []Command { return commandsIn(msg, 7) }

// Mask masks files with the built-in rules.
func Mask(files []File, old, new string) {
	m := &mask{scanner: secrets.New([]byte("key"), nil)}
	m.files(files, []sides{{[]byte(old), []byte(new)}})
}

// Names returns the names of a file without masks.
func (f *File) Names() (old, new string) { return f.old, f.new }
