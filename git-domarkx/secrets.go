package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore/refname"
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

// newSecrets returns a warning with the number of secrets that are new in the saved sessions; "" if there are none. It scans only
// the first scan.QuickBytes of the new data, because it must be fast, and then the warning says so.
func (inv *invocation) newSecrets(opened managers, saved []engine.SaveResult) (string, error) {
	var tips, known, names []string
	for _, s := range saved {
		if !s.Changed {
			continue
		}
		tips, names = append(tips, s.ID), append(names, s.Name)
		if s.Before.ID != "" {
			known = append(known, s.Before.ID)
		}
	}
	if len(tips) == 0 {
		return "", nil
	}
	n, more, err := opened.scans.Fresh(inv.ctx, tips, known)
	if err != nil || n == 0 && !more {
		return "", err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 3 {
		names = nil
	}
	for i, name := range names {
		names[i] = refname.Argument(name)
	}
	list := strings.TrimSpace("git domarkx scan " + strings.Join(names, " "))
	const part = scan.QuickBytes >> 20
	switch {
	case n == 0:
		return fmt.Sprintf("only the first %d MB of the new data were scanned for secrets, and have none; to scan all: %s", part, list), nil
	case more:
		return fmt.Sprintf("at least %s found, in the first %d MB of the new data; push will not send it; to count and list all: %s", counted(n, "secret"), part, list), nil
	}
	return fmt.Sprintf("%s found in the new data, which push will not send; to list: %s", counted(n, "secret"), list), nil
}

// warnSecrets warns of secrets that are new in saved sessions. The sessions are stored
// already, so an error of the scan is a warning, too.
func (inv *invocation) warnSecrets(opened managers, saved []engine.SaveResult) {
	text, err := inv.newSecrets(opened, saved)
	if err != nil {
		inv.warn(fmt.Errorf("warning: scanning for secrets: %w", err))
	}
	if text != "" {
		inv.notice("warning: " + strings.TrimSpace(text))
	}
}

// redactOnImport reports whether domarkx.redact is import.
func (inv *invocation) redactOnImport() (bool, error) {
	settings, err := inv.settings()
	if err != nil {
		return false, err
	}
	value, _ := settings.Get("domarkx.redact")
	if value != "" && value != "import" {
		return false, fmt.Errorf("domarkx.redact is %q: %w, expected import", value, domarkx.ErrInvalid)
	}
	return value != "", nil
}
