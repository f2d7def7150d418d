package zeus

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/syntax"
)

// A word is one of the words that Python writes and reads as a number, although JSON has none.
type word struct {
	text         string
	line, column int // in the document
	shifted      int // its column in the text that pythonWords returns
	offset       int // its offset in that text, in bytes
}

type words []word

// pythonWords returns a document in which NaN, Infinity and -Infinity are strings, and these words.
func pythonWords(data []byte) ([]byte, words) {
	var found words
	var text []byte
	done, line, column, onLine := 0, 1, 1, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case 'N', 'I', '-':
			for _, w := range []string{"NaN", "Infinity", "-Infinity"} {
				if !bytes.HasPrefix(data[i:], []byte(w)) {
					continue
				}
				before := data[done:i]
				if n := bytes.Count(before, []byte("\n")); n > 0 {
					line, column, onLine = line+n, 1, 0
				}
				column += utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
				found = append(found, word{w, line, column, column + onLine*len(`""`), len(text) + len(before)})
				text = append(append(append(append(text, before...), '"'), w...), '"')
				column, onLine = column+len(w), onLine+1
				i += len(w) - 1
				done = i + 1
				break
			}
		}
	}
	return append(text, data[done:]...), found
}

// shift converts the position in a report from the text that pythonWords returned to the document.
func (w words) shift(err error) {
	var report *syntax.Error
	if !errors.As(err, &report) {
		return
	}
	before := 0
	for _, word := range w {
		if word.line == report.Line && word.shifted < report.Column {
			before++
		}
	}
	report.Column -= before * len(`""`)
}

// offset converts an offset in the text that pythonWords returned to one in the document.
func (w words) offset(at int) int {
	before, _ := slices.BinarySearchFunc(w, at, func(word word, at int) int { return cmp.Compare(word.offset, at) })
	return at - before*len(`""`)
}

func (w words) reports(path string) []*syntax.Error {
	const most = 20
	var all []*syntax.Error
	for i, word := range w {
		msg := word.text + " is not JSON, expected a value; it is read as a string"
		if i == most {
			msg = fmt.Sprintf("from here on %d more words are not JSON; they are read as strings", len(w)-i)
		}
		all = append(all, &syntax.Error{Path: path, Line: word.line, Column: word.column, Msg: msg})
		if i == most {
			break
		}
	}
	return all
}
