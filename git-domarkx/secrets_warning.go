package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/scan"
)

// newSecrets returns a warning with the number of secrets that saved sessions got, or "".
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
	if err != nil || n == 0 {
		return "", err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > 3 {
		names = nil
	}
	where := "what was stored"
	if more {
		where = fmt.Sprintf("the first %d MB of %s", scan.QuickBytes>>20, where)
	}
	return fmt.Sprintf("%s found in %s, which push will not send; to list: git domarkx scan %s", counted(n, "secret"), where, strings.Join(names, " ")), nil
}

// warnSecrets says once how many secrets saved sessions got. That it cannot be known is a warning, too: the sessions are stored.
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
	git, err := inv.git()
	if err != nil {
		return false, err
	}
	config, err := git.Config(inv.ctx)
	if err != nil {
		return false, err
	}
	switch value, _ := config.Get("domarkx.redact"); value {
	case "":
		return false, nil
	case "import":
		return true, nil
	default:
		return false, fmt.Errorf("domarkx.redact is %q: %w, expected import", value, domarkx.ErrInvalid)
	}
}
