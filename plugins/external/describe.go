package external

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Limits of a plugin's description.
const (
	maxTools     = 1000
	maxLanguages = 100
	maxName      = 64
)

// describe parses the answer to initialize.
func (p Plugin) describe(v jsonvalue.Value) (domarkx.Description, error) {
	d := domarkx.Description{Source: p.path}
	version, _ := v.Get("protocol")
	if version.Kind() != jsonvalue.Number || version.Text() != fmt.Sprint(protocol) {
		return d, fmt.Errorf(`"protocol" is %s: %w, expected %d`, version.JSON(), domarkx.ErrUnsupported, protocol)
	}
	if kind, _ := v.Get("type"); kind.Kind() != jsonvalue.String || kind.Text() != p.kind {
		return d, fmt.Errorf(`"type" is %s, expected %q`, kind.JSON(), p.kind)
	}
	dump, _ := v.Get("dump")
	d.Dump = dump.IsTrue()
	d.Config, _ = v.Get("config")
	if d.Config.Kind() != jsonvalue.Object {
		return d, errors.New(`"config" is not an object, expected the JSON Schema of the config`)
	}
	tools, _ := v.Get("tools")
	if tools.Kind() != jsonvalue.Array || len(tools.Items()) > maxTools {
		return d, fmt.Errorf(`"tools" is not an array of at most %d tools`, maxTools)
	}
	known := map[string]bool{}
	for i, item := range tools.Items() {
		name, _ := item.Get("name")
		description, _ := item.Get("description")
		schema, _ := item.Get("inputSchema")
		switch {
		case !isName(name):
			return d, fmt.Errorf(`"tools": "name" of tool %d is %s, expected at most %d letters, digits, "_", "-" and "."`, i, name.JSON(), maxName)
		case known[name.Text()]:
			return d, fmt.Errorf(`"tools": two tools have the name %q`, name.Text())
		case description.Kind() != jsonvalue.String || description.Text() == "":
			return d, fmt.Errorf(`"tools": %q has no "description"`, name.Text())
		case schema.Kind() != jsonvalue.Object:
			return d, fmt.Errorf(`"tools": %q has no "inputSchema", expected a JSON Schema`, name.Text())
		}
		known[name.Text()] = true
		d.Tools = append(d.Tools, domarkx.Tool{Name: name.Text(), Description: description.Text(), Schema: schema})
	}
	languages, ok := v.Get("languages")
	if ok && languages.Kind() != jsonvalue.Array || len(languages.Items()) > maxLanguages {
		return d, fmt.Errorf(`"languages" is not an array of at most %d names`, maxLanguages)
	}
	for _, l := range languages.Items() {
		if l.Kind() != jsonvalue.String || l.Text() == "" || len(l.Text()) > maxName || !utf8.ValidString(l.Text()) || strings.ContainsAny(l.Text(), " \t\n") {
			return d, fmt.Errorf(`"languages": %s is not the name of a language`, l.JSON())
		}
		d.Languages = append(d.Languages, l.Text())
	}
	return d, nil
}

func isName(v jsonvalue.Value) bool {
	wrong := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", r)
	}
	return v.Kind() == jsonvalue.String && v.Text() != "" && len(v.Text()) <= maxName && !strings.ContainsFunc(v.Text(), wrong)
}
