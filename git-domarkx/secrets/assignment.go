package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// The ways in which a value follows its name.
type style uint8

const (
	colon   style = iota + 1 // name: value
	equals                   // name=value
	spaced                   // name = value
	comma                    // "name", "value"
	element                  // <name>value</name>
	option                   // --name value
	word                     // the name is value
	literal                  // "name": "value", as a member of JSON
)

const (
	maxName  = 80
	maxValue = 2048
)

// findAssignment appends the value that is assigned to a name around text[start:end], if the name
// suggests a secret.
func findAssignment(found []match, text []byte, start, end int) []match {
	from, to := start, end
	for from > 0 && start-from < maxName && isName(text[from-1]) {
		from--
	}
	for to < len(text) && to-end < maxName && (isWord(text[to]) || text[to] == '-') {
		to++
	}
	name := string(bytes.TrimLeft(text[from:to], "-."))
	kind := kindOf(name)
	if kind == plainName || namesID(name) {
		return found
	}
	from = to - len(name)
	how, at := operatorAfter(text, from, to, kind)
	if how == 0 {
		return found
	}
	first, last, quoted := valueAt(text, at, how, from)
	if first >= last {
		return found
	}
	if isSecretValue(string(text[first:last]), name, kind, how, quoted) {
		found = append(found, match{rule: "password-assignment", start: first, end: last, weak: true})
	}
	return found
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }

// operatorAfter returns how a value follows the name text[from:to], and the offset at which the
// value begins.
func operatorAfter(text []byte, from, to int, kind nameKind) (style, int) {
	at := func(i int) byte {
		if i < len(text) {
			return text[i]
		}
		return 0
	}
	blank := skip(text, to, 4, "\\\"'`])")
	quoted := bytes.ContainsAny(text[to:blank], `"'`)
	i := skip(text, blank, 12, " \t")
	gap := i > blank
	rest := text[i:min(len(text), i+8)]
	switch {
	case bytes.HasPrefix(rest, []byte(":=")), bytes.HasPrefix(rest, []byte("=>")), bytes.HasPrefix(rest, []byte("||")), bytes.HasPrefix(rest, []byte("??")),
		bytes.HasPrefix(rest, []byte("?=")), bytes.HasPrefix(rest, []byte("==")), bytes.HasPrefix(rest, []byte("!=")):
		i += 2
		for at(i) == '=' {
			i++
		}
		return spaced, skipBlanks(text, i)
	case bytes.HasPrefix(rest, []byte("=")):
		if next := at(i + 1); !gap && next != ' ' && next != '\t' {
			return equals, skipBlanks(text, i+1)
		}
		return spaced, skipBlanks(text, i+1)
	case bytes.HasPrefix(rest, []byte(":")):
		if after := typeAnnotation(text, i+1); after > 0 {
			return spaced, skipBlanks(text, after)
		}
		return colon, skipBlanks(text, i+1)
	case bytes.HasPrefix(rest, []byte(",")) && quoted:
		if value := valueMember(text, i); value > 0 {
			return literal, value
		}
		return comma, skipBlanks(text, i+1)
	case at(i) == '\n' || at(i) == '\r':
		if value := valueMember(text, i); value > 0 {
			return colon, value
		}
	case at(i) == '>' && from > 0 && text[from-1] == '<':
		return element, i + 1
	case gap && from > 1 && text[from-1] == '-' && text[from-2] == '-':
		return option, i
	case gap && (bytes.HasPrefix(rest, []byte("is ")) || bytes.HasPrefix(rest, []byte("is: ")) || bytes.HasPrefix(rest, []byte("was ")) || bytes.HasPrefix(rest, []byte("was: "))) && !quoted:
		return word, skipBlanks(text, i+bytes.IndexByte(rest, ' '))
	case gap && kind == passwordName && at(i) == '\'' && !quoted:
		return option, i
	}
	return 0, 0
}

// typeAnnotation returns the offset of the value after the type of a variable, as in "password:
// string = x", or 0 without a type.
func typeAnnotation(text []byte, i int) int {
	limit := min(len(text), i+40)
	letters := 0
	for ; i < limit; i++ {
		switch c := text[i]; {
		case c == '=' && letters > 0 && i+1 < len(text) && text[i+1] != '=' && text[i-1] == ' ':
			return i + 1
		case isWord(c) && (c < '0' || c > '9'):
			letters++
		case c != ' ' && strings.IndexByte("<>[]|?.&*", c) < 0:
			return 0
		}
	}
	return 0
}

// valueMember returns the offset of the value of a member "value" that follows a member "name", as
// in lists of environment variables, or 0 if there is none.
func valueMember(text []byte, i int) int {
	limit := min(len(text), i+60)
	i = skip(text, i, 60, ", \t\r\n\"'\\")
	if !bytes.HasPrefix(bytes.ToLower(text[i:min(len(text), i+5)]), []byte("value")) {
		return 0
	}
	i = skip(text, i+5, limit-i-5, " \t\"'\\")
	if i >= limit || text[i] != ':' && text[i] != '=' {
		return 0
	}
	return skipBlanks(text, i+1)
}

// skipBlanks returns the first offset from i on without a blank. It also skips line ends if a
// quoted literal follows within 40 bytes.
func skipBlanks(text []byte, i int) int {
	i = skip(text, i, len(text), " \t")
	j := i
	for j < len(text) && j < i+40 && strings.IndexByte(" \t\r\n\\", text[j]) >= 0 {
		if text[j] == '\\' && j+1 < len(text) && (text[j+1] == '"' || text[j+1] == '\'') { // an escaped quote
			return j
		}
		j++
	}
	if j > i && j < len(text) && strings.IndexByte("\"'`", text[j]) >= 0 {
		return j
	}
	return i
}

// valueAt returns the value at an offset: a literal without its quotes, or the text up to a blank
// or punctuation.
func valueAt(text []byte, at int, how style, name int) (start, end int, quoted bool) {
	for at < len(text) && strings.IndexByte("rbfuLS@$", text[at]) >= 0 && at+1 < len(text) && (text[at+1] == '"' || text[at+1] == '\'') {
		at++
	}
	if how == word || how == colon {
		at = skip(text, at, len(text), "*") // emphasis of Markdown
	}
	quote := []byte(nil)
	switch {
	case at >= len(text):
		return 0, 0, false
	case text[at] == '"' || text[at] == '\'' || text[at] == '`':
		quote = text[at : at+1]
	case text[at] == '\\' && at+1 < len(text) && (text[at+1] == '"' || text[at+1] == '\''):
		quote = text[at : at+2]
	}
	limit := min(len(text), at+maxValue)
	if quote != nil {
		start = at + len(quote)
		for i := start; i < limit && text[i] != '\n'; i++ {
			if bytes.HasPrefix(text[i:], quote) {
				return start, i, true
			}
			if text[i] == '\\' {
				i++
			}
		}
		return 0, 0, false
	}
	if how == comma {
		return 0, 0, false
	}
	stop := " \t\r\n\"'`,;<>|"
	if name > 0 && (text[name-1] == '?' || text[name-1] == '&') {
		stop += "&#)]}"
	}
	end = until(text, at, maxValue, stop)
	if how != equals || bytes.IndexByte(text[at:end], '(') < 0 {
		end = at + len(bytes.TrimRight(text[at:end], ".:)]}*\\"))
	}
	if strings.HasSuffix(string(text[at:end]), `\n`) {
		end -= 2
	}
	return at, end, false
}

// skip returns the first offset from i on with a byte that is not in a set, at most i+most.
func skip(text []byte, i, most int, set string) int {
	for limit := min(len(text), i+most); i < limit && strings.IndexByte(set, text[i]) >= 0; {
		i++
	}
	return i
}

// until returns the first offset from i on with a byte in a set, at most i+most.
func until(text []byte, i, most int, set string) int {
	for limit := min(len(text), i+most); i < limit && strings.IndexByte(set, text[i]) < 0; {
		i++
	}
	return i
}

// isSecretValue reports whether the value of a name is a secret, and not a placeholder, a
// reference, an id or a description.
func isSecretValue(value, name string, kind nameKind, how style, quoted bool) bool {
	least := 8
	if kind >= passwordName {
		least = 6
	}
	m := makeupOf(value)
	if len(value) < least || len(value) > maxValue || isPlaceholder(value) || namesSecret(value) {
		return false
	}
	if m.blanks > 0 {
		return kind == phraseName && len(value) >= 12 && (quoted || how == literal)
	}
	letters := m.lower + m.upper
	if isPlace(value, m) || isIdentifier(value, name, m, kind) {
		return false
	}
	literalValue := quoted || how == literal
	if !literalValue && (isReference(value) || strings.Contains(strings.ToLower(value), "passw")) && !(how == equals && isEnvironment(name) && m.separators+m.symbols-strings.Count(value, ".") > 0) {
		return isEnvironment(name) && (how == equals || how == colon) && kind >= secretName && letters == len(value) && len(value) >= least+2
	}
	if kind < passwordName {
		return isGenerated(value, m, kind, literalValue || how == equals)
	}
	if letters+m.separators == len(value) { // a value of words is only a secret where people write words as passwords
		return letters == len(value) && len(value) >= 16 && (m.upper == 0 || m.lower == 0) || isEnvironment(name) && (quoted || how == equals || how == colon) && !isSlug(value)
	}
	if how == colon || how == word || how == spaced && !quoted {
		return letters > 0 && m.digits+m.symbols > 0
	}
	return m.digits > 0 || m.symbols > 0
}

// isPlace reports whether a value is the place of a secret: a URL, a path, or a name in another
// store.
func isPlace(value string, m makeup) bool {
	if strings.Contains(value, "://") || strings.HasPrefix(value, "/") && m.symbols == 0 {
		return true
	}
	return slices.ContainsFunc([]string{"./", "~/", "env:", "file:", "arn:", "vault:"}, func(prefix string) bool { return strings.HasPrefix(value, prefix) })
}

// isIdentifier reports whether a value is an id or a digest, and names of that kind can have such
// values.
func isIdentifier(value, name string, m makeup, kind nameKind) bool {
	switch {
	case isUUID(value):
		return kind < keyName
	case isHex(value):
		return kind < keyName && !accessToken(name)
	}
	return looksLikeID(value) && (kind < passwordName || m.lower+m.upper == 0 && m.symbols == 0 && len(value) < 8)
}

// isGenerated reports whether a value is random enough for a token or key. isAssigned reports
// whether the value follows an assignment operator, where a value is written exactly.
func isGenerated(value string, m makeup, kind nameKind, isAssigned bool) bool {
	least := 8
	if kind == tokenName {
		least = 10
	}
	switch {
	case len(value) < least || m.digits == 0 || m.lower+m.upper == 0:
		return false
	case m.digits == 1 && !isAssigned:
		return false
	case isSlug(value) && kind < secretName:
		return false
	}
	return shannonEntropy(value) >= 2.7
}

// accessToken reports whether a name suggests a token that can be hexadecimal without being a
// digest.
func accessToken(name string) bool {
	low := strings.ToLower(name)
	return strings.Contains(low, "auth") || strings.Contains(low, "access") || strings.Contains(low, "api") || strings.Contains(low, "bearer") || strings.Contains(low, "refresh")
}

// isEnvironment reports whether a name has the form of an environment variable's.
func isEnvironment(name string) bool { return strings.ToUpper(name) == name }
