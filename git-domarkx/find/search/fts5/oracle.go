package fts5

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// An oracle is an FTS5 index in memory that shows how SQLite's tokenizer splits a text.
type oracle struct {
	conn *sqlite3.Conn
	add  *sqlite3.Stmt
	read *sqlite3.Stmt
	drop *sqlite3.Stmt
}

func newOracle() (o *oracle, err error) {
	o = &oracle{}
	defer func() {
		if err != nil {
			err = fmt.Errorf("tokenizer of SQLite: %w", errors.Join(err, o.close()))
		}
	}()
	if o.conn, err = sqlite3.Open(":memory:"); err != nil {
		return nil, err
	}
	for _, sql := range []string{"CREATE VIRTUAL TABLE probe USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')", "CREATE VIRTUAL TABLE found USING fts5vocab(probe, instance)"} {
		if err := o.conn.Exec(sql); err != nil {
			return nil, err
		}
	}
	for sql, s := range map[string]**sqlite3.Stmt{
		"INSERT INTO probe(rowid, text) VALUES(1, ?)":   &o.add,
		"SELECT term FROM found ORDER BY offset":        &o.read,
		"INSERT INTO probe(probe) VALUES('delete-all')": &o.drop,
	} {
		if *s, _, err = o.conn.Prepare(sql); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *oracle) close() error {
	var err error
	for _, s := range []*sqlite3.Stmt{o.add, o.read, o.drop} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if o.conn != nil {
		err = errors.Join(err, o.conn.Close())
	}
	return err
}

// words returns the words of a text, as SQLite's tokenizer finds them.
func (o *oracle) words(text string) (words []string, err error) {
	if err := o.add.Bind(1, text); err != nil {
		return nil, err
	}
	_, err = o.add.Step()
	o.add.Reset()
	for more := err == nil; more; {
		if more, err = o.read.Step(); more {
			word, _ := o.read.Column(0).(string)
			words = append(words, word)
		}
	}
	o.read.Reset()
	if err == nil {
		_, err = o.drop.Step()
		o.drop.Reset()
	}
	return words, err
}

// askedTogether is the number of neighbouring characters for which ask queries the tokenizer at once.
const askedTogether = 64

// ask returns how the tokenizer treats a character and its neighbours: it gives the tokenizer each of them alone, and
// between two letters.
func (o *oracle) ask(r rune) (map[rune]character, error) {
	const end = "zzz"
	first := r &^ (askedTogether - 1)
	var text strings.Builder
	for c := first; c < first+askedTogether; c++ {
		fmt.Fprintf(&text, "q%[1]cq %[1]c %[2]s ", c, end)
	}
	words, err := o.words(text.String())
	if err != nil {
		return nil, fmt.Errorf("tokenizer of SQLite: %w", err)
	}
	all := make(map[rune]character, askedTogether)
	for c := first; c < first+askedTogether; c++ {
		n := slices.Index(words, end)
		if n < 0 {
			return nil, errors.New("tokenizer of SQLite: a word is missing")
		}
		if word := words[0]; len(word) > 1 { // the character does not end a word
			all[c] = character{inside: true, starts: n == 2, text: word[1 : len(word)-1]}
		} else {
			all[c] = character{}
		}
		words = words[n+1:]
	}
	return all, nil
}
