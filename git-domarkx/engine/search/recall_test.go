package search_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/domarkx/domarkx/git-domarkx/engine/search"
)

// vocabulary has words of five languages, and of code.
var vocabulary = [][]string{
	strings.Fields("the rate limit of a server is what we handle when clients retry too often and the cache is cold"),
	strings.Fields("der Größe nach wäre die Straße für Übergänge schöner als die Änderung der Maße im Café"),
	strings.Fields("où l'été français garçon déjà élève naïve façade cœur"),
	strings.Fields("時区処理 限制 速率 服务器 错误处理 東京タワー カタカナ ひらがな 한국어 서버 오류 처리"),
	strings.Fields("сервер ошибка обработка запрос Ёлка ёж"),
	strings.Fields("getUserByID snake_case_name HTTPServer parseJSON2 userIDs x86_64 err != nil fmt.Errorf(\"%w\",err) a->b foo::bar MAX_SIZE utf8Decoder readAll"),
}

// corpus returns texts of random words.
func corpus(random *rand.Rand, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 3 + random.IntN(25) {
			list := vocabulary[random.IntN(len(vocabulary))]
			b.WriteString(list[random.IntN(len(list))])
			b.WriteString([]string{" ", " ", " ", ", ", "\n"}[random.IntN(5)])
		}
		texts[i] = strings.TrimSpace("m " + b.String())
	}
	return texts
}

// tokens returns the words of a text as SQLite documents unicode61: letters, numbers and private characters, without
// case and diacritics; with Chinese, Japanese and Korean characters as words of their own.
func tokens(text string) []string {
	var words []string
	word := ""
	end := func() {
		if word != "" {
			words = append(words, word)
		}
		word = ""
	}
	for _, r := range text {
		r = unaccented(unicode.ToLower(r))
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー':
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word += string(r)
		default:
			end()
		}
	}
	end()
	return words
}

// unaccented returns the letter without its diacritic, for the Latin letters in the vocabulary. SQLite keeps those
// of other scripts.
func unaccented(r rune) rune {
	from, to := []rune("öäüéèàùçïëê"), []rune("oaueeauciee")
	if i := slices.Index(from, r); i >= 0 {
		return to[i]
	}
	return r
}

// Patterns of words, and of parts in identifiers.
var (
	wordPattern    = regexp.MustCompile(`[\pL\pN]+`)
	partPattern    = regexp.MustCompile(`\p{Lu}+s\b|\p{Lu}+(?:\P{Lu}+)?|\P{Lu}+`)
	acronymPattern = regexp.MustCompile(`^(\p{Lu}+)(\p{Lu}\p{Ll}.*)$`)
)

// identifier returns the words in an identifier, in lower case.
func identifier(word string) []string {
	var parts []string
	for _, piece := range strings.Split(word, "_") {
		for _, p := range partPattern.FindAllString(piece, -1) {
			if m := acronymPattern.FindStringSubmatch(p); m != nil && !strings.HasSuffix(p, "IDs") {
				parts = append(parts, strings.ToLower(m[1]), strings.ToLower(m[2]))
			} else {
				parts = append(parts, strings.ToLower(p))
			}
		}
	}
	return parts
}

func contains(words, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// hasWord reports whether a text has a word: as tokens, or as parts of an identifier.
func hasWord(text, word string) bool {
	if contains(tokens(text), tokens(word)) {
		return true
	}
	for _, candidate := range wordPattern.FindAllString(text, -1) {
		if p := identifier(candidate); len(p) > 1 && contains(p, identifier(word)) {
			return true
		}
	}
	return false
}

func TestRecall(t *testing.T) {
	r := newRepository(t)
	random := rand.New(rand.NewPCG(5, 6))
	texts := corpus(random, 400)
	for s := range 4 {
		r.save(fmt.Sprintf("s%d", s), texts[s*100:s*100+100]...)
	}
	want := func(matches func(text string) bool) []string {
		var names []string
		for i, text := range texts {
			if matches(text) {
				names = append(names, fmt.Sprintf("s%d#%d", i/100, i%100))
			}
		}
		slices.Sort(names)
		return names
	}
	compare := func(q search.Query, want []string) {
		t.Helper()
		if got := r.find(q); !slices.Equal(got, want) {
			t.Errorf("%q, kind %d: found %d, expected %d:\n%q\n%q", q.Text, q.Kind, len(got), len(want), got, want)
		}
	}
	for range 60 {
		text := []rune(texts[random.IntN(len(texts))])
		from := random.IntN(len(text))
		part := strings.TrimSpace(string(text[from:min(len(text), from+1+random.IntN(20))]))
		if part == "" {
			continue
		}
		compare(search.Query{Text: part, Kind: search.Fixed}, want(func(text string) bool { return strings.Contains(text, part) }))
	}
	for _, pattern := range []string{`err`, `(?i)ERR`, `(?i)stra.e`, `^m the`, `[A-Z]{2,}_`, `限制.+速率`, `(?i)kkk|SERVER|größe`, `x\d+_\d+`, `rate (limit|server)`, `limit$`, `\bID`, `(err|nil)+`, `(?i)user.*cache`, `é{1,2}`, `.n.e`} {
		re := regexp.MustCompile("(?m)" + pattern)
		compare(search.Query{Text: pattern, Kind: search.Regexp}, want(re.MatchString))
	}
	for _, list := range vocabulary {
		for _, word := range list {
			if len(tokens(word)) == 0 || strings.ContainsAny(word, `"*`) {
				continue
			}
			compare(words(word), want(func(text string) bool { return hasWord(text, word) }))
			if !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
				compare(words(strings.ToUpper(word)+"*"), want(func(text string) bool {
					return slices.ContainsFunc(append(tokens(text), partsOf(text)...), func(w string) bool { return prefixed(text, w, word) })
				}))
			}
		}
	}
	for range 30 { // runs of characters, and phrases
		text := texts[random.IntN(len(texts))]
		all := tokens(text)
		from := random.IntN(len(all))
		phrase := all[from:min(len(all), from+1+random.IntN(3))]
		compare(words(`"`+strings.Join(phrase, " ")+`"`), want(func(text string) bool { return contains(tokens(text), phrase) }))
	}
	a, b := "server", "cache"
	compare(words(a+" "+b), want(func(text string) bool { return hasWord(text, a) && hasWord(text, b) }))
	compare(words(a+" OR "+b), want(func(text string) bool { return hasWord(text, a) || hasWord(text, b) }))
	compare(words(a+" NOT "+b), want(func(text string) bool { return hasWord(text, a) && !hasWord(text, b) }))
}

// partsOf returns the parts of the identifiers in a text.
func partsOf(text string) []string {
	var all []string
	for _, candidate := range wordPattern.FindAllString(text, -1) {
		if p := identifier(candidate); len(p) > 1 {
			all = append(all, p...)
		}
	}
	return all
}

// prefixed reports whether a token begins with a word; CJK words are runs of tokens; the last may be a prefix.
func prefixed(text, token, word string) bool {
	want := tokens(word)
	if len(want) > 1 {
		return contains(tokens(text), want)
	}
	return strings.HasPrefix(token, want[0])
}
