package search_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// vocabulary has words of five languages, and of code.
var vocabulary = [][]string{
	strings.Fields("the rate limit of a server is what we handle when clients retry too often and the cache is cold"),
	strings.Fields("der Größe nach wäre die Straße für Übergänge schöner als die Änderung der Maße im Café"),
	strings.Fields("où l'été français garçon déjà élève naïve façade cœur Việt Nguyễn"),
	strings.Fields("時区処理 限制 速率 服务器 错误处理 東京タワー カタカナ ひらがな 한국어 서버 오류 처리"),
	strings.Fields("сервер ошибка обработка запрос Ёлка ёж йод İzmir ώρα ガギグゲゴ"),
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
		if texts[i] = strings.TrimSpace("m " + b.String()); random.IntN(3) == 0 {
			texts[i] = norm.NFD.String(texts[i])
		}
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
	from, to := []rune("öäüéèàùçïëêệễ"), []rune("oaueeaucieeee")
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

// A message is a text with its words.
type message struct {
	text        string
	tokens      []string
	identifiers [][]string // the parts of each
}

func newMessage(text string) message {
	m := message{text: text}
	text = norm.NFC.String(text)
	m.tokens = tokens(text)
	for _, candidate := range wordPattern.FindAllString(text, -1) {
		if p := identifier(candidate); len(p) > 1 {
			m.identifiers = append(m.identifiers, p)
		}
	}
	return m
}

// hasWord returns whether a message has a word: as tokens, or as parts of an identifier.
func hasWord(word string) func(message) bool {
	whole, parts := tokens(word), identifier(word)
	return func(m message) bool {
		return contains(m.tokens, whole) || slices.ContainsFunc(m.identifiers, func(p []string) bool { return contains(p, parts) })
	}
}

// hasPrefix returns whether a message has a word that begins so. Chinese, Japanese and Korean words are runs of tokens.
func hasPrefix(word string) func(message) bool {
	want := tokens(word)
	return func(m message) bool {
		if len(want) > 1 {
			return contains(m.tokens, want)
		}
		return slices.ContainsFunc(append(slices.Concat(m.identifiers...), m.tokens...), func(w string) bool { return strings.HasPrefix(w, want[0]) })
	}
}

func TestRecall(t *testing.T) {
	r := newRepository(t)
	random := rand.New(rand.NewPCG(5, 6))
	length, queries := 100, 30
	if testing.Short() {
		length, queries = 25, 10
	}
	texts := corpus(random, 4*length)
	for s := range 4 {
		r.save(fmt.Sprintf("s%d", s), texts[s*length:(s+1)*length]...)
	}
	messages := make([]message, len(texts))
	for i, text := range texts {
		messages[i] = newMessage(text)
	}
	want := func(matches func(message) bool) []string {
		var names []string
		for i, m := range messages {
			if matches(m) {
				names = append(names, fmt.Sprintf("s%d#%d", i/length, i%length))
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
	for range 2 * queries {
		text := []rune(texts[random.IntN(len(texts))])
		from := random.IntN(len(text))
		part := strings.TrimSpace(string(text[from:min(len(text), from+1+random.IntN(20))]))
		if part == "" {
			continue
		}
		compare(search.Query{Text: part, Kind: search.Fixed}, want(func(m message) bool { return strings.Contains(m.text, part) }))
	}
	for _, pattern := range []string{`err`, `(?i)ERR`, `(?i)stra.e`, `^m the`, `[A-Z]{2,}_`, `限制.+速率`, `(?i)kkk|SERVER|größe`, `x\d+_\d+`, `rate (limit|server)`, `limit$`, `\bID`, `(err|nil)+`, `(?i)user.*cache`, `(?i)İZ`, `é{1,2}`, `.n.e`} {
		re := regexp.MustCompile("(?m)" + pattern)
		compare(search.Query{Text: pattern, Kind: search.Regexp}, want(func(m message) bool { return re.MatchString(m.text) }))
	}
	for _, list := range vocabulary {
		for _, word := range list {
			if len(tokens(word)) == 0 || strings.ContainsAny(word, `"*`) {
				continue
			}
			compare(words(word), want(hasWord(word)))
			compare(words(norm.NFD.String(word)), want(hasWord(word)))
			if !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
				compare(words(strings.ToUpper(word)+"*"), want(hasPrefix(word)))
			}
		}
	}
	for range queries { // runs of characters, and phrases
		all := messages[random.IntN(len(messages))].tokens
		from := random.IntN(len(all))
		phrase := all[from:min(len(all), from+1+random.IntN(3))]
		compare(words(`"`+strings.Join(phrase, " ")+`"`), want(func(m message) bool { return contains(m.tokens, phrase) }))
	}
	server, cache := hasWord("server"), hasWord("cache")
	compare(words("server cache"), want(func(m message) bool { return server(m) && cache(m) }))
	compare(words("viet"), want(hasWord("Việt")))
	compare(words("server OR cache"), want(func(m message) bool { return server(m) || cache(m) }))
	compare(words("server NOT cache"), want(func(m message) bool { return server(m) && !cache(m) }))
}
