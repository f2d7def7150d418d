package transcript

import (
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// Text returns the string at a path of member names; "" if there is none.
func Text(v jsonvalue.Value, path ...string) string {
	if v = Get(v, path...); v.Kind() == jsonvalue.String {
		return v.Text()
	}
	return ""
}

// Get returns the value at a path of member names; null if there is none.
func Get(v jsonvalue.Value, path ...string) jsonvalue.Value {
	for _, name := range path {
		v, _ = v.Get(name)
	}
	return v
}

// Texts returns the strings at a path of member names in the items, without "".
func Texts(items []jsonvalue.Value, path ...string) []string {
	var texts []string
	for _, item := range items {
		if s := Text(item, path...); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// JoinTexts returns what text returns for each item, with blank lines between. It leaves out "".
func JoinTexts(items []jsonvalue.Value, text func(item jsonvalue.Value) string) string {
	var texts []string
	for _, item := range items {
		if s := text(item); s != "" {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Has reports whether an object has a member of each of these names.
func Has(v jsonvalue.Value, names ...string) bool {
	for _, name := range names {
		if _, ok := v.Get(name); !ok {
			return false
		}
	}
	return true
}

// Int returns the integer at a path of member names; 0 if there is none.
func Int(v jsonvalue.Value, path ...string) int64 {
	if v = Get(v, path...); v.Kind() != jsonvalue.Number {
		return 0
	}
	n, _ := strconv.ParseInt(v.Text(), 10, 64)
	return n
}

// Str returns a JSON string.
func Str(s string) jsonvalue.Value { return jsonvalue.StringValue(s) }

// Num returns a JSON number.
func Num(n int64) jsonvalue.Value { return jsonvalue.NumberValue(strconv.FormatInt(n, 10)) }

// List returns a JSON array.
func List(items ...jsonvalue.Value) jsonvalue.Value { return jsonvalue.ArrayValue(items...) }

// Object is [jsonvalue.ObjectOf].
func Object(pairs ...any) jsonvalue.Value { return jsonvalue.ObjectOf(pairs...) }

// Code returns a code block.
func Code(language, text string) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: text}
}

// IsCode reports whether a block is code in that language and has no name.
func IsCode(b domarkx.Block, language string) bool {
	return b.Type == domarkx.CodeBlock && b.Language == language && !b.HasName
}

// Indented returns a value as indented JSON.
func Indented(v jsonvalue.Value) string { return string(v.AppendJSON(nil, "", "  ")) }
