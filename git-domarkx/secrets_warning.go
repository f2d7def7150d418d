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
