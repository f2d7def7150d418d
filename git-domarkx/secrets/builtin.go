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
	rule := &ruleText{}
	var list *[]string // whose items are on the next lines
	var lists map[string]*[]string
	var single map[string]*string
	fill := func(r *ruleText, a *allowText) {
		lists = map[string]*[]string{"keywords": &r.Keywords, "regexes": &a.Regexes, "stopwords": &a.StopWords, "paths": &a.Paths}
		single = map[string]*string{"id": &r.ID, "regex": &r.Regex, "path": &r.Path, "regexTarget": &a.RegexTarget, "condition": &a.Condition}
	}
	fill(rule, d.AllowList)
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
			fill(rule, &allowText{})
		case line == "[[rules.allowlists]]":
			rule.AllowLists = append(rule.AllowLists, &allowText{})
			fill(rule, rule.AllowLists[len(rule.AllowLists)-1])
		case lists[name] != nil:
			if *lists[name] = texts(value); !strings.HasSuffix(value, "]") {
				list = lists[name]
			}
		case single[name] != nil:
			*single[name] = texts(value)[0]
		case name == "secretGroup":
			rule.SecretGroup, _ = strconv.Atoi(value)
		case name == "entropy":
			rule.Entropy, _ = strconv.ParseFloat(value, 64)
		}
	}
	return d
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
