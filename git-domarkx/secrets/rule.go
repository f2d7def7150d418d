package secrets

import (
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// The kinds of rules: those that recognize the form of a secret, and those that recognize the name
// before it.
const (
	strong = 1 << iota
	weak
)

// A rule finds secrets with a regular expression that is tried near keywords.
type rule struct {
	id       string
	pattern  string
	group    int // submatch with the secret; 0: the first nonempty one, or else the whole match
	entropy  float64
	keywords []string // in lower case
	kind     int
	assigned bool // matches a name with a keyword, an operator and the secret
	joined   bool // also matches secrets that are split over lines
	reach
	added  bool // from a repository: its work is limited
	allow  []*allowlist
	accept func(secret string) bool // whether a matched text is a secret; nil accepts all

	// find, if not nil, replaces the pattern: it appends the secrets at a keyword.
	find func(found []match, text []byte, start, end int) []match

	firstUse
}

// A firstUse is what derives the other fields of a rule from its pattern, and compiles it, when it is needed first.
type firstUse struct {
	prepare func()
	regexp  func() *regexp.Regexp
}

// A reach is the text around a keyword in which a rule can match.
type reach struct {
	before int // maximum number of bytes before a keyword that can matter
	after  int
	run    int  // minimum number of word characters after the keyword
	cut    bool // the regular expression has no maximum length
}

// An allowText describes matches that are not secrets, with the terms of gitleaks.
type allowText struct {
	Regexes     []string `toml:"regexes"`
	RegexTarget string   `toml:"regexTarget"`
	StopWords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`
	Commits     []string `toml:"commits"`
	Condition   string   `toml:"condition"`
}

// An allowlist is an allowText that is compiled on first use.
type allowlist struct {
	*allowText
	once    sync.Once
	regexes []*regexp.Regexp
	stop    *automaton
}

// The middle of gitleaks' rules that match a name, an operator and a secret, and what these rules
// match before the name.
const (
	operatorPattern = `[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	leadingName     = `[\w.-]{0,50}?`
)

// The sizes in bytes of windows around keywords.
const (
	nearBefore  = 96
	farBefore   = 2048
	maxAfter    = 4096
	maxKeyBlock = 65536 // for an armored private key
)

// begin sets what runs when the rule is needed first. In a short text, only rules with a keyword in the text are prepared.
func (r *rule) begin() {
	r.prepare = sync.OnceFunc(func() {
		if r.find == nil {
			r.choose()
			r.limit()
		}
	})
	r.regexp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.pattern) })
}

// choose derives from a rule's pattern how the rule is tried.
func (r *rule) choose() {
	head, _, assigned := strings.Cut(r.pattern, operatorPattern)
	near := r.namesKeywords(r.pattern)
	r.assigned = assigned && !strings.Contains(r.pattern, `|\b(`) && (r.id == genericRule || r.namesKeywords(head))
	r.kind = strong
	if assigned {
		r.kind = weak
	}
	switch {
	case r.assigned, near && !assigned:
		r.before = nearBefore
	case assigned:
		r.before = 256
	default:
		r.before = farBefore
	}
	r.joined = !assigned && r.before == nearBefore && !strings.Contains(r.id, "private-key")
	for _, k := range r.keywords {
		r.joined = r.joined && (len(k) >= 4 || r.id == webTokenRule)
	}
	if r.id != genericRule { // the text before the name is not part of the secret, and slow to match
		r.pattern = strings.TrimPrefix(r.pattern, leadingName)
		if rest, ok := strings.CutPrefix(r.pattern, `(?i)`+leadingName); ok {
			r.pattern = `(?i)` + rest
		}
	}
}

// namesKeywords reports whether a pattern contains all keywords literally, so that matches are near
// one.
func (r *rule) namesKeywords(pattern string) bool {
	pattern = strings.ToLower(strings.ReplaceAll(pattern, `\`, ""))
	for _, k := range r.keywords {
		if !strings.Contains(pattern, k) {
			return false
		}
	}
	return true
}

// window returns the part of a text in which the rule is tried for a keyword; ok is false if there
// is none.
func (r *rule) window(text []byte, start, end int) (window, bool) {
	for i := range r.run { // a keyword such as pat is also the beginning of many words
		if end+i >= len(text) || !isWord(text[end+i]) {
			return window{}, false
		}
	}
	return window{max(0, start-r.before), min(len(text), end+r.after)}, true
}

// limit computes the fields that depend on the parsed pattern: after, run and cut.
func (r *rule) limit() {
	longest := tooLong
	if parsed, err := syntax.Parse(r.pattern, syntax.Perl); err == nil {
		longest = longestMatch(parsed)
		if !r.joined && len(r.keywords) == 1 {
			r.run = runAfter(parsed, r.keywords[0])
		}
	}
	r.cut = longest > maxAfter
	r.after = min(longest, maxAfter) + 8
	if r.before == farBefore {
		r.after = max(r.after, farBefore)
	}
	if strings.Contains(r.id, "private-key") {
		r.after = maxKeyBlock
	}
}

// runAfter returns the minimum number of word characters after a keyword with which a pattern
// begins.
func runAfter(re *syntax.Regexp, keyword string) int {
	for i, sub := range re.Sub {
		switch {
		case sub.Op == syntax.OpWordBoundary && re.Op == syntax.OpConcat:
		case sub.Op == syntax.OpCapture, re.Op == syntax.OpCapture:
			return runAfter(sub, keyword)
		case sub.Op == syntax.OpLiteral && strings.ToLower(string(sub.Rune)) == keyword && i+1 < len(re.Sub):
			if next := re.Sub[i+1]; next.Op == syntax.OpRepeat && isWordClass(next.Sub[0]) {
				return next.Min
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

func isWordClass(re *syntax.Regexp) bool {
	if re.Op != syntax.OpCharClass {
		return false
	}
	for i := 0; i < len(re.Rune); i += 2 {
		for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
			if c > unicode.MaxASCII || !isWord(byte(c)) {
				return false
			}
		}
	}
	return true
}

// tooLong is the length of matches that are not counted further.
const tooLong = maxAfter + 1

// longestMatch returns the maximum length in bytes of a match, at most tooLong. Repetitions are at most 1000 (RE2).
func longestMatch(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune) // a rune may match another one by case folding
	case syntax.OpCharClass:
		for i := 1; i < len(re.Rune); i += 2 {
			if re.Rune[i] > 0x17f {
				return 4
			}
		}
		return 3 // case folding may add a longer rune, such as the Kelvin sign
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return longestMatch(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return tooLong
	case syntax.OpRepeat:
		if re.Max < 0 {
			return tooLong
		}
		return min(longestMatch(re.Sub[0])*re.Max, tooLong)
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			sum = min(sum+longestMatch(sub), tooLong)
		}
		return sum
	case syntax.OpAlternate:
		most := 0
		for _, sub := range re.Sub {
			most = max(most, longestMatch(sub))
		}
		return most
	}
	return 0
}

// shannonEntropy returns the entropy of a text in bits per byte.
func shannonEntropy(text string) float64 {
	if text == "" {
		return 0
	}
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	entropy, total := 0.0, float64(len(text))
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / total
			entropy -= p * math.Log2(p)
		}
	}
	return entropy
}

func (a *allowlist) allows(secret, whole, line string) bool {
	a.once.Do(func() {
		for _, pattern := range a.Regexes {
			a.regexes = append(a.regexes, regexp.MustCompile(pattern))
		}
		if len(a.StopWords) > 0 {
			words := make([]string, len(a.StopWords))
			for i, word := range a.StopWords {
				words[i] = strings.ToLower(word)
			}
			a.stop = newAutomaton(words)
		}
	})
	target := secret
	switch a.RegexTarget {
	case "match":
		target = whole
	case "line":
		target = line
	}
	byRegex, byWord := slices.ContainsFunc(a.regexes, func(re *regexp.Regexp) bool { return re.MatchString(target) }), false
	if a.stop != nil {
		a.stop.find([]byte(secret), func(int32, int, int) { byWord = true })
	}
	if strings.EqualFold(a.Condition, "and") || a.Condition == "&&" {
		return (len(a.regexes) == 0 || byRegex) && (a.stop == nil || byWord) && len(a.regexes)+len(a.StopWords) > 0 && len(a.Paths)+len(a.Commits) == 0
	}
	return byRegex || byWord
}
