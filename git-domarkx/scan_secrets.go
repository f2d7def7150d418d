package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

// A secret is a secret and all places where it was found.
type secret struct {
	scan.Finding // the first one, with the key of any
	places       []string
}

// secretsIn groups findings by secret, in the order of the first finding of each.
func secretsIn(found []scan.Finding) []*secret {
	var list []*secret
	known := map[string]*secret{}
	for _, f := range found {
		s := known[f.Fingerprint]
		if s == nil {
			s = &secret{Finding: f}
			known[f.Fingerprint], list = s, append(list, s)
		}
		if s.Key == "" {
			s.Key = f.Key
		}
		s.places = append(s.places, secretPlace(f)+": "+f.Where)
	}
	return list
}

// masked returns the masked secret behind the name that it is assigned to, such as OPENAI_API_KEY=sk-****.
func (s *secret) masked() string {
	if s.Key == "" {
		return s.Masked
	}
	return s.Key + "=" + s.Masked
}

// shownPlaces is how many places of a secret are listed unless the user asks for all.
const shownPlaces = 3

// lines returns the places, only the first ones unless all is set.
func (s *secret) lines(all bool) []string {
	if n := len(s.places); !all && n > shownPlaces+1 {
		return append(s.places[:shownPlaces:shownPlaces], fmt.Sprintf("and %s", counted(n-shownPlaces, "other place")))
	}
	return s.places
}

// secretTable returns the table that people see: an entry for each secret, with its places below it.
func secretTable(found []scan.Finding, all bool) *table {
	t := newTable("SECRET", "RULE", "PLACES", "FINGERPRINT")
	t.shapes = []shape{{kind: nameColumn}, {kind: nameColumn}, {kind: numberColumn}}
	for _, s := range secretsIn(found) {
		t.add(text(s.masked()), text(s.Rule), number(len(s.places)), text(s.Fingerprint))
		t.below = append(t.below, s.lines(all))
	}
	return t
}

// printSecrets lists the secrets that kept sessions from being sent: a line for each, with its places below it.
func (inv *invocation) printSecrets(found []scan.Finding) {
	const most = 50
	list := secretsIn(found)
	for i, s := range list {
		if i == most && len(list) > most+1 {
			fmt.Fprintf(inv.err, "and %s\n", counted(len(list)-i, "other secret"))
			break
		}
		fmt.Fprintf(inv.err, "%s: %s in %s: %s (%s)\n", visibleLine(secretPlace(s.Finding)), s.Rule, visibleLine(s.Where), visibleLine(s.masked()), s.Fingerprint)
		for _, line := range s.lines(false)[1:] {
			fmt.Fprintf(inv.err, "    %s\n", visibleLine(line))
		}
	}
	if len(found) > 0 {
		inv.notice("Sessions with secrets were not sent. To remove them from the history: git domarkx redact NAME. If a finding is harmless: git domarkx scan --allow FINGERPRINT; to send all: --allow-secrets.")
	}
}
