package search_test

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// FuzzQuery checks that each query is either refused, or finds what its terms do.
func FuzzQuery(f *testing.F) {
	for _, q := range []string{`a`, `"a b"*`, `a NOT b OR c*`, `getUser*`, "時区 \x00", `""`, `a"`, `NEAR(a b)`, `{a b} : c`, `a^`, `-a`, `*`, `col:x`, "\xff", `a OR NOT b`, `_`, `A_b*`, "e\u0301"} {
		f.Add(q)
	}
	index := randomOracle(f)
	f.Fuzz(func(t *testing.T, query string) { compareWithOracle(t, index, query) })
}

// randomOracle returns an index of random texts and calls.
func randomOracle(tb testing.TB) search.Oracle {
	random := rand.New(rand.NewPCG(4, 8))
	var texts [][2]string
	for range 300 {
		texts = append(texts, [2]string{corpus(random, 1)[0], corpus(random, 1)[0][:random.IntN(3)]})
	}
	return search.NewOracle(tb, texts...)
}

func compareWithOracle(t *testing.T, index search.Oracle, query string) (found int) {
	t.Helper()
	got, want, err := index.Find(query)
	if err != nil && !errors.Is(err, domarkx.ErrInvalid) {
		t.Fatalf("%q: %v", query, err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Fatalf("%q finds %v, its terms find %v", query, got, want)
	}
	return len(got)
}

// TestQueries compares random queries with their terms, which are looked for one by one.
func TestQueries(t *testing.T) {
	index, random := randomOracle(t), rand.New(rand.NewPCG(5, 8))
	found, all := 0, 800
	if testing.Short() {
		all = 200
	}
	for range all {
		var query strings.Builder
		for range 1 + random.IntN(4) {
			list := vocabulary[random.IntN(len(vocabulary))]
			at := random.IntN(len(list))
			words := strings.Join(list[at:min(len(list), at+1+random.IntN(3)*random.IntN(2))], " ")
			runes := []rune(words)
			switch random.IntN(8) {
			case 0:
				words = string(runes[:1+random.IntN(len(runes))]) + "*"
			case 1:
				words = `"` + words + `"`
			case 2:
				words = `"` + string(runes[:1+random.IntN(len(runes))]) + `"*`
			case 3:
				words = "NOT " + words
			case 4:
				words = "OR " + words
			}
			query.WriteString(" " + words)
		}
		if compareWithOracle(t, index, query.String()) > 0 {
			found++
		}
	}
	if found < all/4 {
		t.Errorf("only %d of %d queries found something", found, all)
	}
}

// FuzzAnalyze checks that analyzing only adds spaces and composes characters, and that a word is found in its indexed form.
func FuzzAnalyze(f *testing.F) {
	for _, text := range []string{"getUserByID", "HTTPServer2", "時区abc", "IDs", "Ünï_cödeÄ", "a\x00b", "\xff\xfe", "\ue000", "한국어", "e\u0301E\u0301", "\u1112\u1161\u11ab\u1100\u116e か\u3099"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, parts := search.Analyze(text)
		plain := strings.Map(func(r rune) rune {
			if r == ' ' || r == utf8.RuneError || r == search.Gap {
				return -1
			}
			return r
		}, text)
		normal := func(text string) string { return strings.ReplaceAll(norm.NFC.String(text), "\u034f", "") } // NFC adds it after many accents
		if got := strings.NewReplacer(" ", "", "\ufffd", "").Replace(words); normal(got) != normal(plain) {
			t.Errorf("%q became %q", text, words)
		}
		if len(parts) > 8*len(text)+8 || !utf8.ValidString(words) || utf8.ValidString(text) && !utf8.ValidString(parts) {
			t.Errorf("%q has the parts %q", text, parts)
		}
	})
}

func TestParts(t *testing.T) {
	for word, want := range map[string]string{
		"getUserByID":  "get User By ID",
		"HTTPServer":   "HTTP Server",
		"parseJSON2":   "parse JSON2",
		"x2Y":          "x2 Y",
		"IDs":          "",
		"userIDs":      "user IDs",
		"userIDsOf":    "user IDs Of",
		"Hello":        "",
		"HELLO":        "",
		"hello":        "",
		"größeÄndern":  "größe Ändern",
		"sha256Sum":    "sha256 Sum",
		"aB":           "a B",
		"iPhone":       "i Phone",
		"getURLParsed": "get URL Parsed",
	} {
		_, parts := search.Analyze(word)
		if got := strings.Trim(parts, " "+string(search.Gap)); got != want {
			t.Errorf("%s: %q, expected %q", word, got, want)
		}
	}
}

// FuzzBlock checks that damaged blocks are errors.
func FuzzBlock(f *testing.F) {
	f.Add(search.EncodeBlock(1, "a", "bb", ""))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		texts, err := search.DecodeBlock(data)
		if err == nil && len(texts) > 1<<20 {
			t.Errorf("%d texts", len(texts))
		}
	})
}

func TestBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 20).Draw(t, "texts")
		data := search.EncodeBlock(rapid.Int64Range(1, 1<<40).Draw(t, "first"), texts...)
		got, err := search.DecodeBlock(data)
		if err != nil || len(got) != len(texts) {
			t.Fatalf("%d of %d texts, %v", len(got), len(texts), err)
		}
		for i := range texts {
			if got[i] != texts[i] {
				t.Fatalf("text %d is %q, expected %q", i, got[i], texts[i])
			}
		}
		if len(data) > 0 {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "damage"))
			if _, err := search.DecodeBlock(data); err == nil {
				t.Fatal("a damaged block was read")
			}
		}
	})
}

// FuzzLeaf checks that the messages of a leaf are read back, and damage is an error.
func FuzzLeaf(f *testing.F) {
	f.Add([]byte{2, 4, 6, 8})
	f.Fuzz(func(t *testing.T, data []byte) { search.DecodeLeaf(data) })
}

// TestFilterPassesMatches checks that the filter of literals passes each text that matches.
func TestFilterPassesMatches(t *testing.T) {
	pieces := []string{"abc", "K", "s", "(a|bc)", "(?i:ab)", "x+", "y*", "[a-c]", "(de){2}", "é", "(?i:straße)", ".", "\\d", "(abc|(?i:kelvin))", "^", "$", "(x|)", "a{0,2}", "(?i:xyz)"}
	alphabet := []string{"a", "b", "c", "x", "y", "z", "A", "B", "X", "Z", "K", "k", "\u212a", "s", "S", "ſ", "d", "e", "é", "1", "\n", "straße", "STRASSE", "kelvin", "KELVIN", "\u212aelvin"}
	filtered := 0
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 12).Draw(t, "text"), "")
		may, known := search.MayMatch(pattern, text)
		if known {
			filtered++
		}
		if regexp.MustCompile("(?m)"+pattern).MatchString(text) && !may {
			t.Fatalf("%s matches %q, which the filter does not pass", pattern, text)
		}
	})
	if filtered == 0 {
		t.Error("no pattern has a filter")
	}
}
