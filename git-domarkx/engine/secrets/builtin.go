package secrets

import (
	"strconv"

	"github.com/domarkx/domarkx"
)

// readRules reads rules in JSON. With package encoding/json it would take twice as long, while each command that
// stores messages waits for it.
func readRules(data []byte) (document, error) {
	v, err := domarkx.ParseValue(data)
	if err != nil {
		return document{}, err
	}
	d := document{AllowList: readAllowlist(member(v, "allowlist"))}
	for _, r := range member(v, "rules").Items() {
		t := ruleText{ID: member(r, "id").Text(), Regex: member(r, "regex").Text(), Path: member(r, "path").Text(), Keywords: texts(member(r, "keywords"))}
		if s := member(r, "entropy").Text(); s != "" {
			if t.Entropy, err = strconv.ParseFloat(s, 64); err != nil {
				return document{}, err
			}
		}
		if s := member(r, "secretGroup").Text(); s != "" {
			if t.SecretGroup, err = strconv.Atoi(s); err != nil {
				return document{}, err
			}
		}
		if a, ok := r.Get("allowlist"); ok {
			t.AllowList = readAllowlist(a)
		}
		for _, a := range member(r, "allowlists").Items() {
			t.AllowLists = append(t.AllowLists, readAllowlist(a))
		}
		d.Rules = append(d.Rules, t)
	}
	return d, nil
}

func readAllowlist(v domarkx.Value) *allowlist {
	return &allowlist{Regexes: texts(member(v, "regexes")), RegexTarget: member(v, "regexTarget").Text(), StopWords: texts(member(v, "stopwords")),
		Paths: texts(member(v, "paths")), Commits: texts(member(v, "commits")), Condition: member(v, "condition").Text()}
}

func member(v domarkx.Value, name string) domarkx.Value {
	m, _ := v.Get(name)
	return m
}

func texts(v domarkx.Value) []string {
	var list []string
	for _, item := range v.Items() {
		list = append(list, item.Text())
	}
	return list
}
