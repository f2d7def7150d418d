package secrets

import (
	"encoding/base64"
	"strings"
)

// findURLPassword appends the password in the URL with "://" at text[start:end].
func findURLPassword(found []match, text []byte, start, end int) []match {
	if start == 0 || !isWord(text[start-1]) {
		return found
	}
	const longest = 600
	at := -1
	i := end
	for ; i < len(text) && i < end+longest; i++ {
		c := text[i]
		if c == '@' {
			at = i
		}
		if c <= ' ' || strings.IndexByte("/\"'<>`?|^", c) >= 0 || c == '\\' && i+1 < len(text) && strings.IndexByte("nrt\"", text[i+1]) >= 0 {
			break
		}
	}
	if at < 0 || at+1 >= len(text) || !isWord(text[at+1]) && text[at+1] != '[' {
		return found
	}
	user, password, ok := strings.Cut(string(text[end:at]), ":")
	if !ok {
		if m := makeupOf(user); len(user) < 20 || m.digits == 0 || m.lower+m.upper == 0 || isPlaceholder(user) || looksLikeID(user) {
			return found
		}
		return append(found, match{rule: "url-password", start: end, end: at})
	}
	first := at - len(password)
	if strings.EqualFold(password, "x-oauth-basic") { // the token is in the place of the user
		user, password, first, at = "", user, end, end+len(user)
	}
	if len(password) < 2 || isPlaceholder(password) || password == user || strings.ContainsAny(password, "{}<>()[]") {
		return found
	}
	if strings.ToUpper(password) == password && strings.Trim(password, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return found // the password is a name, and not a secret
	}
	return append(found, match{rule: "url-password", start: first, end: at})
}

// schemes are the authentication schemes before the credentials in a header.
const schemes = " bearer token basic apikey api-key bot negotiate splunk sso-key key oauth jwt "

// findHeader appends the credentials in the HTTP header whose name is text[start:end].
func findHeader(found []match, text []byte, start, end int) []match {
	i, scheme := end, ""
	if text[end-1] == ' ' { // "Bearer "
		scheme = "bearer"
		if start > 0 && isWord(text[start-1]) {
			return found
		}
	} else {
		if i = headerValue(text, end); i < 0 {
			return found
		}
		if strings.EqualFold(string(text[start:end]), "cookie") {
			return findCookie(found, text, i)
		}
		scheme, i = schemeAt(text, i)
	}
	first := i
	for i < len(text) && i < first+8192 && (isBase64(text[i]) || strings.IndexByte("~.:%", text[i]) >= 0) {
		i++
	}
	value := strings.TrimRight(string(text[first:i]), ".:")
	if !isCredential(value, scheme) {
		return found
	}
	return append(found, match{rule: "authorization-header", start: first, end: first + len(value), weak: true})
}

// headerValue returns the offset of a header's value, given the end of the header's name, or -1
// without a value.
func headerValue(text []byte, end int) int {
	i := skip(text, end, 4, "\\\"'`]")
	i = skip(text, i, end+8-i, " ")
	if i >= len(text) || text[i] != ':' && text[i] != '=' && text[i] != ',' {
		return -1
	}
	i++
	for n := 0; n < 16 && i < len(text) && strings.IndexByte(" =>\t\\\"'`fbu", text[i]) >= 0; n++ {
		if (text[i] == 'f' || text[i] == 'b' || text[i] == 'u') && (i+1 == len(text) || text[i+1] != '"' && text[i+1] != '\'') {
			break
		}
		i++
	}
	return i
}

// schemeAt returns the scheme at the beginning of a header's value, if there is one, and the offset
// of the credentials.
func schemeAt(text []byte, i int) (scheme string, credentials int) {
	j := i
	for j < len(text) && j < i+12 && (isWord(text[j]) || text[j] == '-') {
		j++
	}
	if j == len(text) || text[j] != ' ' || j == i || !strings.Contains(schemes, " "+strings.ToLower(string(text[i:j]))+" ") {
		return "", i
	}
	scheme = strings.ToLower(string(text[i:j]))
	return scheme, skip(text, j, len(text), " ")
}

// isCredential reports whether a header's value grants access.
func isCredential(value, scheme string) bool {
	if len(value) < 8 || isPlaceholder(value) {
		return false
	}
	if scheme == "basic" {
		decoded, err := base64.StdEncoding.DecodeString(value)
		_, password, ok := strings.Cut(string(decoded), ":")
		return err == nil && ok && !isPlaceholder(password)
	}
	m := makeupOf(value)
	if m.digits == 0 || m.lower+m.upper == 0 || isSlug(value) {
		return len(value) >= 24 && m.lower > 0 && m.upper > 1 && m.separators == 0
	}
	return true
}

// findCookie appends the values of cookies whose names suggest a session.
func findCookie(found []match, text []byte, i int) []match {
	for n := 0; n < 50 && i < len(text); n++ {
		from := i
		i = until(text, from, 4096, ";\"'\r\n\\`")
		name, value, ok := strings.Cut(string(text[from:i]), "=")
		name = strings.ToLower(strings.TrimSpace(name))
		m := makeupOf(value)
		if ok && len(value) >= 16 && m.digits > 0 && m.lower+m.upper > 0 && m.blanks == 0 && !isPlaceholder(value) && !isUUID(value) &&
			(strings.Contains(name, "sess") || strings.Contains(name, "sid") || strings.Contains(name, "auth") || strings.Contains(name, "token") || strings.Contains(name, "jwt")) {
			found = append(found, match{rule: "authorization-header", start: i - len(value), end: i, weak: true})
		}
		if i >= len(text) || text[i] != ';' {
			break
		}
		i = skip(text, i+1, len(text), " ")
	}
	return found
}
