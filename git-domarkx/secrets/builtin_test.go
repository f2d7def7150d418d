package secrets_test

import (
	"bytes"
	"fmt"
	"go/format"
	"reflect"
	"strconv"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/formattest"
)

// TestBuiltIn checks that the table of rules in builtin.go has those of gitleaks.
func TestBuiltIn(t *testing.T) {
	type allowText struct {
		Regexes     []string `toml:"regexes"`
		RegexTarget string   `toml:"regexTarget"`
		StopWords   []string `toml:"stopwords"`
		Paths       []string `toml:"paths"`
		Commits     []string `toml:"commits"`
		Condition   string   `toml:"condition"`
	}
	type rule struct {
		ID          string       `toml:"id"`
		Regex       string       `toml:"regex"`
		Path        string       `toml:"path"`
		SecretGroup int          `toml:"secretGroup"`
		Entropy     float64      `toml:"entropy"`
		Keywords    []string     `toml:"keywords"`
		AllowList   *allowText   `toml:"allowlist"`
		AllowLists  []*allowText `toml:"allowlists"`
	}
	var rules struct {
		AllowList  *allowText   `toml:"allowlist"`
		AllowLists []*allowText `toml:"allowlists"`
		Rules      []rule       `toml:"rules"`
	}
	if _, err := toml.Decode(formattest.Read(t, "gitleaks/gitleaks.toml"), &rules); err != nil {
		t.Fatal(err)
	}
	if len(rules.AllowLists) > 0 || rules.AllowList == nil || len(rules.Rules) < 200 {
		t.Errorf("%d rules, and %d allowlists beside the one that is read", len(rules.Rules), len(rules.AllowLists))
	}
	var b bytes.Buffer
	b.WriteString(`// Code generated from gitleaks/gitleaks.toml by go test -update; DO NOT EDIT.

package secrets

// builtin holds the rules of gitleaks as Go values, because reading them from a file would take
// longer than scanning the text that a turn adds to a session.
var builtin = document`)
	writeLiteral(&b, reflect.ValueOf(rules))
	source, err := format.Source(append(b.Bytes(), '\n'))
	if err != nil {
		t.Fatal(err)
	}
	formattest.Golden(t, "builtin.go", string(source))
}

// writeLiteral writes the Go literal of a value, without the names of types that follow from where it stands: each rule is a line,
// and long lists are several.
func writeLiteral(b *bytes.Buffer, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		writeLiteral(b, v.Elem())
	case reflect.Struct:
		b.WriteString("{")
		for i := range v.NumField() {
			f := v.Field(i)
			if f.IsZero() {
				continue
			}
			if b.Bytes()[b.Len()-1] != '{' {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%s: ", v.Type().Field(i).Name)
			switch {
			case f.Kind() == reflect.Pointer:
				b.WriteString("&" + f.Type().Elem().Name())
			case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Pointer:
				b.WriteString("[]*" + f.Type().Elem().Elem().Name())
			case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
				b.WriteString("[]ruleText")
			case f.Kind() == reflect.Slice:
				b.WriteString("[]string")
			}
			writeLiteral(b, f)
		}
		b.WriteString("}")
	case reflect.Slice:
		b.WriteString("{")
		for i, width := 0, 0; i < v.Len(); i++ {
			isRule := v.Index(i).Kind() == reflect.Struct
			if width > 120 || isRule {
				b.WriteString("\n")
				width = 0
			}
			before := b.Len()
			if writeLiteral(b, v.Index(i)); isRule || i+1 < v.Len() {
				b.WriteString(", ")
			}
			width += b.Len() - before
		}
		b.WriteString("}")
	case reflect.String:
		if s := v.String(); strconv.CanBackquote(s) {
			b.WriteString("`" + s + "`")
		} else {
			b.WriteString(strconv.Quote(s))
		}
	default:
		fmt.Fprint(b, v.Interface())
	}
}
