package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// The limits of rules in a repository: the number of bytes that they may examine for each byte of a
// text, and the number of matches in one window.
const (
	addedWork       = 16
	maxAddedMatches = 32
)

// A window is a part of a text in which a rule is tried.
type window struct{ start, end int }

// A scratch holds the windows of one scan by rule.
type scratch struct {
	windows [][]window
	touched []int32
}

// text returns the secrets in a text that rules of the given kinds find. Secrets with a form of their own are also
// found where the text spells them in another way.
func (s *ruleSet) text(text []byte, kinds int) []match {
	return resolve(append(s.spelled(text, kinds), s.revealed(text)...))
}

// spelled returns the secrets that stand in a text as they are.
func (s *ruleSet) spelled(text []byte, kinds int) []match {
	work := s.scratch.Get().(*scratch)
	var found []match
	s.keywords.find(text, func(word int32, start, end int) {
		for _, i := range s.of[word] {
			r := s.rules[i]
			r.prepare()
			switch {
			case r.kind&kinds == 0 || r.find == nil && r.assigned && !assignmentFollows(text, end):
			case r.find != nil:
				found = r.find(found, text, start, end)
			default:
				if w, ok := r.window(text, start, end); ok {
					work.add(i, w, r.added)
				}
			}
		}
	})
	budget := addedWork*len(text) + 1<<20
	for _, i := range work.touched {
		for _, w := range work.windows[i] {
			if r := s.rules[i]; !r.added {
				found = s.tryRule(found, r, text, w, -1)
			} else if budget > 0 {
				before := len(found)
				found = s.tryRule(found, r, text, w, maxAddedMatches)
				budget -= (w.end - w.start) * (2 + len(found) - before)
			}
		}
		work.windows[i] = work.windows[i][:0]
	}
	work.touched = work.touched[:0]
	s.scratch.Put(work)
	return s.plausible(found, text)
}

// add adds a window for a rule. It joins the window to the previous one if they overlap.
func (s *scratch) add(rule int32, w window, added bool) {
	list := s.windows[rule]
	if len(list) == 0 {
		s.touched = append(s.touched, rule)
	} else if last := &list[len(list)-1]; w.start <= last.end && (!added || w.end-last.start <= maxAfter*2) {
		last.end = max(last.end, w.end)
		last.start = min(last.start, w.start)
		return
	}
	s.windows[rule] = append(list, w)
}

// tryRule appends the findings of a rule in a window. If there are none, it tries again without line ends, and without quotes and
// operators next to them, so that it finds secrets in literals of several lines.
func (s *ruleSet) tryRule(found []match, r *rule, text []byte, w window, limit int) []match {
	part, cut := text[w.start:w.end], w.end < len(text) && !r.cut
	before := len(found)
	s.eachMatch(r, part, cut, limit, func(m match) {
		m.start, m.end = m.start+w.start, m.end+w.start
		found = append(found, m)
	})
	if len(found) > before || !r.joined {
		return found
	}
	joined, origin := joinLines(part)
	s.eachMatch(r, joined, cut, limit, func(m match) {
		m.secret = joined[m.start:m.end]
		m.start, m.end = origin[m.start]+w.start, origin[m.end-1]+1+w.start
		if m.end-m.start != len(m.secret) { // in one line, it would have been found if its boundary were valid
			found = append(found, m)
		}
	})
	return found
}

// eachMatch calls found with the matches of a rule in a part of a text. If the part is cut off, a match at its end does not count.
func (s *ruleSet) eachMatch(r *rule, part []byte, cut bool, limit int, found func(match)) {
	for _, at := range r.regexp().FindAllSubmatchIndex(part, limit) {
		if m, ok := s.accept(r, part, at); ok && !(cut && at[1] == len(part)) {
			found(m)
		}
	}
}

// accept returns the secret in a match of a rule. ok is false if its entropy is too low or an
// allowlist contains it.
func (s *ruleSet) accept(r *rule, part []byte, at []int) (match, bool) {
	start, end := at[0], at[1]
	if r.group > 0 {
		start, end = at[2*r.group], at[2*r.group+1]
	} else {
		for i := 2; i < len(at); i += 2 {
			if at[i] >= 0 && at[i+1] > at[i] {
				start, end = at[i], at[i+1]
				break
			}
		}
	}
	for end > start && part[end-1] == '\n' {
		end--
	}
	if start < 0 || end <= start {
		return match{}, false
	}
	secret := string(part[start:end])
	if r.entropy > 0 && shannonEntropy(secret) <= r.entropy || r.accept != nil && !r.accept(secret) {
		return match{}, false
	}
	whole := string(part[at[0]:at[1]])
	line := lineAround(part, at[0], at[1])
	allows := func(a *allowlist) bool { return a.allows(secret, whole, line) }
	if slices.ContainsFunc(s.allow, allows) || slices.ContainsFunc(r.allow, allows) {
		return match{}, false
	}
	if r.assigned {
		name := nameBefore(whole[:start-at[0]])
		if namesID(name) || isPlaceholder(secret) || namesSecret(secret) || looksLikeID(secret) && kindOf(name) < keyName {
			return match{}, false
		}
	}
	return match{rule: r.id, start: start, end: end, prefix: r.publicPrefix(secret), weak: r.kind == weak}, true
}

// publicPrefix returns the beginning that all secrets of a rule have in common.
func (r *rule) publicPrefix(secret string) string {
	for _, k := range r.keywords {
		if len(k) < len(secret)/2 && strings.EqualFold(secret[:len(k)], k) && !r.assigned {
			return secret[:len(k)]
		}
	}
	return ""
}

func lineAround(text []byte, start, end int) string {
	from := bytes.LastIndexByte(text[:start], '\n') + 1
	if n := bytes.IndexByte(text[end:], '\n'); n >= 0 {
		return string(text[from : end+n])
	}
	return string(text[from:])
}

// assignmentFollows reports whether an operator and a value may follow a name whose keyword ends at
// end.
func assignmentFollows(text []byte, end int) bool {
	i, limit := end, min(len(text), end+24)
	for i < limit && (isWord(text[i]) || strings.IndexByte(" \t.-\n\r'\"", text[i]) >= 0) {
		i++
	}
	if i == len(text) || strings.IndexByte("=>:|?,", text[i]) < 0 {
		return false
	}
	i = skip(text, i, 12, "=>:|?,`'\" \t\r\n\f\v")
	const shortest = 10
	for limit = i + shortest; i < limit; i++ {
		if i >= len(text) || !isWord(text[i]) && strings.IndexByte(".=-+/:%", text[i]) < 0 {
			return false
		}
	}
	return true
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// joinLines returns a text without its line ends, the blanks around them and the characters that
// join a literal with the next line. origin maps each byte to its offset in the text. The result is
// nil if the text has no line end.
func joinLines(text []byte) (joined []byte, origin []int) {
	if bytes.IndexByte(text, '\n') < 0 {
		return nil, nil
	}
	joined, origin = make([]byte, 0, len(text)), make([]int, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\n' {
			joined, origin = append(joined, text[i]), append(origin, i)
			continue
		}
		keep := len(bytes.TrimRight(joined, " \t\r\\+\"'`"))
		joined, origin = joined[:keep], origin[:keep]
		for i+1 < len(text) && strings.IndexByte(" \t+\"'`|>#*", text[i+1]) >= 0 {
			i++
		}
	}
	return joined, origin
}
