package search_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

func TestExpression(t *testing.T) {
	for query, want := range map[string]string{
		`rate limit`:        `("rate" AND "limit")`,
		`"rate limit"`:      `({prose calls} : "rate limit")`,
		`rate AND limit`:    `("rate" AND "limit")`,
		`limit*`:            `("limit" *)`,
		`"rate lim"*`:       `({prose calls} : "rate lim" *)`,
		`a NOT b NOT "c d"`: `(("a") NOT ("b" OR {prose calls} : "c d"))`,
		`a b OR c`:          `("a" AND "b") OR ("c")`,
		`getUser`:           `(("getUser" OR parts : "get User"))`,
		`getUs*`:            `(("getUs" * OR parts : "get Us" *))`,
		`snake_case`:        `(("snake_case" OR parts : "snake case"))`,
		`HTTPServer`:        `(("HTTPServer" OR parts : "HTTP Server"))`,
		`a.getUser`:         `("a.getUser")`,
		`时区`:                `({prose calls} : "时 区")`,
		`foo -> bar`:        `("foo" AND "bar")`,
		`not or`:            `("not" AND "or")`,
		`a"b c"`:            `("a" AND {prose calls} : "b c")`,
	} {
		got, err := search.Expression(query)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; expected %s", query, got, err, want)
		}
	}
}

func TestInvalidQuery(t *testing.T) {
	for query, want := range map[string]string{
		``:                        "a word with at least one letter or digit is missing",
		`  `:                      "is missing",
		`++`:                      "is missing",
		`"`:                       "a quotation mark has no closing one",
		`a "b`:                    "a quotation mark has no closing one",
		`NOT a`:                   "it needs a word without NOT",
		`a NOT`:                   "NOT needs a word after it",
		`a NOT OR b`:              "NOT needs a word after it",
		`a OR`:                    "is missing",
		`OR a`:                    "is missing",
		strings.Repeat("a ", 501): "it has more than 500 words",
	} {
		_, err := search.Expression(query)
		if !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; expected %q", query, err, want)
		}
	}
}
