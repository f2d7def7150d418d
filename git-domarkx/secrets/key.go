package secrets

import (
	"bytes"
	"strings"
)

// keyBefore returns the name that a secret is assigned to, such as OPENAI_API_KEY, given the text before the secret. It
// returns "" if there is none, or one that does not suggest a secret.
func (s *ruleSet) keyBefore(text []byte) string {
	const far = 2 * maxName
	text = text[max(0, len(text)-far):]
	value := bytes.TrimRight(text, "\\\"'` \t\r\n")
	operator := bytes.TrimRight(value, "=>:|?")
	if len(operator) == len(value) {
		return ""
	}
	name := bytes.TrimRight(operator, "\\\"'`]) \t")
	start := len(name)
	for start > 0 && isName(name[start-1]) {
		start--
	}
	escaped := start > 0 && name[start-1] == '\\' // a line end in JSON, such as \nNAME
	if name = name[start:]; escaped && len(name) > 0 && strings.IndexByte("nrt", name[0]) >= 0 {
		name = name[1:]
	}
	key := string(bytes.Trim(name, "-."))
	isVariable := isEnvironment(key) && strings.Contains(key, "_")
	if len(key) > maxName || namesID(key) || !isVariable && kindOf(key) == plainName || len(s.text([]byte(key+" "+strings.ReplaceAll(key, "_", " ")), strong)) > 0 {
		return ""
	}
	return key
}
