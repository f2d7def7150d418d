package gitcmd

import (
	"context"
	"errors"
	"strings"
)

// Password returns the password that Git's credential helpers have for a URL, or "" if there is
// none (git-credential(1), fill). Only if ask is set, they may ask the user.
func (g *Git) Password(ctx context.Context, url string, ask bool) (string, error) {
	if strings.ContainsAny(url, "\n\x00") {
		return "", errors.New("git credential: the URL has a line end")
	}
	c := Command{Args: []string{"credential", "fill"}, Stdin: strings.NewReader("url=" + url + "\n\n"), Terminal: ask}
	if !ask {
		c.Args = append([]string{"-c", "credential.interactive=false"}, c.Args...)
		c.Env = []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never"}
	}
	out, err := g.Do(ctx, c)
	var failed *Error
	if errors.As(err, &failed) && failed.Code > 0 && ctx.Err() == nil {
		return "", nil // no helper has it, and nobody was asked or answered
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if password, ok := strings.CutPrefix(line, "password="); ok {
			return strings.TrimSuffix(password, "\n"), nil
		}
	}
	return "", nil
}
