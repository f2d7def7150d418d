package secrets

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
)

// What a rule looks at: the form of the secret, or the name before it.
const (
	strong = 1 << iota
	weak
)

// A rule describes secrets by a regular expression that is tried near keywords.
type rule struct {
	id       string
	pattern  string
	group    int // the submatch that is the secret; 0: the first that is not empty, else the whole match
	entropy  float64
	keywords []string // lower case
	kind     int
	assigned bool // a name with a keyword, an operator and the secret
	joined   bool // also looked for where the secret is split over lines
	before   int  // how much of the text before a keyword can matter
	after    int
	run      int  // how many word characters follow the keyword at least
	cut      bool // the regular expression has no longest match
	added    bool // of a repository: its work is limited
	allow    []*allowlist
	accept   func(secret string) bool // nil: all

	// find, if not nil, is used in place of the pattern: it appends the secrets at a keyword.
	find func(found []match, text []byte, start, end int) []match

	prepared lazily
	measured lazily
	once     sync.Once
	compiled *regexp.Regexp
}

// lazily is a [sync.Once] for functions that are asked for at each keyword: it creates no function value when all is done.
type lazily struct {
	done atomic.Bool
	once sync.Once
}

func (l *lazily) do(r *rule, f func(*rule)) {
	if !l.done.Load() {
		l.once.Do(func() { f(r); l.done.Store(true) })
	}
}

// An allowText describes matches that are not secrets, in the words of gitleaks.
type allowText struct {
	Regexes     []string `toml:"regexes"`
	RegexTarget string   `toml:"regexTarget"`
	StopWords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`
	Commits     []string `toml:"commits"`
	Condition   string   `toml:"condition"`
}

// An allowlist is an allowText that is compiled when first needed.
type allowlist struct {
	*allowText
	once    sync.Once
	regexes []*regexp.Regexp
	stop    *automaton
}

// The middle of gitleaks' rules for a name, an operator and a secret, and what precedes the name there.
const (
	operatorPattern = `[\s'"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}(`
	leadingName     = `[\w.-]{0,50}?`
)

// The widths of windows around keywords.
const (
	nearBefore  = 64
	farBefore   = 2048
	maxAfter    = 4096
	maxKeyBlock = 65536 // an armoured private key
)

// prepare derives from a rule's pattern how it is tried. Of a short text, only the rules whose keywords it has are prepared.
func (r *rule) prepare() {
	if r.find != nil {
		return
	}
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
	if r.id != genericRule { // what precedes the name is not part of the secret, and slow to match
		r.pattern = strings.TrimPrefix(r.pattern, leadingName)
		if rest, ok := strings.CutPrefix(r.pattern, `(?i)`+leadingName); ok {
			r.pattern = `(?i)` + rest
		}
	}
}

// namesKeywords reports whether a pattern contains all keywords, so that a match is near one.
func (r *rule) namesKeywords(pattern string) bool {
	pattern = strings.ToLower(strings.ReplaceAll(pattern, `\`, ""))
	for _, k := range r.keywords {
		if !strings.Contains(pattern, k) {
			return false
		}
	}
	return true
}

// window returns the part of a text in which the rule is tried for a keyword; false for none.
func (r *rule) window(text []byte, start, end int) (window, bool) {
	r.measured.do(r, (*rule).measure)
	for i := range r.run { // a keyword such as pat is also the beginning of many words
		if end+i >= len(text) || !isWord(text[end+i]) {
			return window{}, false
		}
	}
	return window{max(0, start-r.before), min(len(text), end+r.after)}, true
}

// measure sets how much of the text after a keyword can matter, and what follows it in any case. It parses the pattern, which is too slow to be done for all
// rules before the first text is scanned.
func (r *rule) measure() {
	longest := math.MaxInt
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

// runAfter returns how many word characters follow a keyword at least, with which a pattern begins.
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

// regexp returns the rule's regular expression, which is compiled when first needed.
func (r *rule) regexp() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(r.pattern) })
	return r.compiled
}

// longestMatch returns the number of bytes of the longest match, or MaxInt.
func longestMatch(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune) // a rune may match another one by folding
	case syntax.OpCharClass:
		for i := 1; i < len(re.Rune); i += 2 {
			if re.Rune[i] > 0x17f {
				return 4
			}
		}
		return 3 // folding may add a longer rune, such as the Kelvin sign
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpCapture, syntax.OpQuest:
		return longestMatch(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus:
		return math.MaxInt
	case syntax.OpRepeat:
		if re.Max < 0 {
			return math.MaxInt
		}
		return times(longestMatch(re.Sub[0]), re.Max)
	case syntax.OpConcat:
		sum := 0
		for _, sub := range re.Sub {
			n := longestMatch(sub)
			if n > math.MaxInt-sum {
				return math.MaxInt
			}
			sum += n
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

func times(n, count int) int {
	if count > 0 && n > math.MaxInt/count {
		return math.MaxInt
	}
	return n * count
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
	byRegex, byWord := false, false
	for _, re := range a.regexes {
		byRegex = byRegex || re.MatchString(target)
	}
	if a.stop != nil {
		a.stop.find([]byte(secret), func(int32, int, int) { byWord = true })
	}
	if strings.EqualFold(a.Condition, "and") || a.Condition == "&&" {
		return (len(a.regexes) == 0 || byRegex) && (a.stop == nil || byWord) && len(a.regexes)+len(a.StopWords) > 0 && len(a.Paths)+len(a.Commits) == 0
	}
	return byRegex || byWord
}

// programSize returns the number of instructions that a pattern compiles to.
func programSize(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}
