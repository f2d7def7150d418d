package secrets

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed gitleaks/gitleaks.toml
var gitleaks string

// builtin returns the rules of gitleaks. It reads only the forms of lines that their file has: a parser of TOML would take
// longer than scanning the text that a turn adds to a session.
func builtin() *document {
	d := &document{AllowList: &allowText{}, Rules: make([]ruleText, 0, strings.Count(gitleaks, "[[rules]]"))}
	rule, allow := &ruleText{}, d.AllowList
	var list *[]string // whose items are on the next lines
	for line := range strings.SplitSeq(gitleaks, "\n") {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, " = ")
		switch {
		case line == "]":
			list = nil
		case list != nil:
			*list = append(*list, texts(line)...)
		case line == "[[rules]]":
			d.Rules = append(d.Rules, ruleText{})
			rule = &d.Rules[len(d.Rules)-1]
		case line == "[[rules.allowlists]]":
			allow = &allowText{}
			rule.AllowLists = append(rule.AllowLists, allow)
		case name == "keywords":
			list = listed(&rule.Keywords, value)
		case name == "regexes":
			list = listed(&allow.Regexes, value)
		case name == "stopwords":
			list = listed(&allow.StopWords, value)
		case name == "paths":
			list = listed(&allow.Paths, value)
		case name == "id":
			rule.ID = texts(value)[0]
		case name == "regex":
			rule.Regex = texts(value)[0]
		case name == "path":
			rule.Path = texts(value)[0]
		case name == "secretGroup":
			rule.SecretGroup, _ = strconv.Atoi(value)
		case name == "entropy":
			rule.Entropy, _ = strconv.ParseFloat(value, 64)
		case name == "regexTarget":
			allow.RegexTarget = texts(value)[0]
		case name == "condition":
			allow.Condition = texts(value)[0]
		}
	}
	return d
}

// listed sets a list to the items in a value. It returns the list if more items are on the next lines.
func listed(list *[]string, value string) *[]string {
	*list = texts(value)
	if strings.HasSuffix(value, "]") {
		return nil
	}
	return list
}

// texts returns the strings in a part of TOML. They have no escapes.
func texts(s string) (all []string) {
	for i := strings.IndexAny(s, `'"`); i >= 0; i = strings.IndexAny(s, `'"`) {
		quote := s[i : i+1]
		if strings.HasPrefix(s[i:], "'''") {
			quote = "'''"
		}
		text, rest, _ := strings.Cut(s[i+len(quote):], quote)
		all, s = append(all, text), rest
	}
	return all
}
