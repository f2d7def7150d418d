package gitcmd

import (
	"bytes"
	"context"
	"fmt"
	"os/user"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// identities are the author and committer that git reports.
type identities struct{ author, committer domarkx.Signature }

// Author returns the author of a commit that is made now. If git has no identity, it
// is the user of the operating system at localhost, so that nothing is lost for lack of a name.
//
// The name is obtained once. The time is the current time unless GIT_AUTHOR_DATE is set.
func (g *Git) Author(ctx context.Context) (domarkx.Signature, error) {
	both, err := g.identities(ctx)
	return g.now(both.author, "GIT_AUTHOR_DATE"), err
}

// Committer returns the committer of a commit, like [Git.Author].
func (g *Git) Committer(ctx context.Context) (domarkx.Signature, error) {
	both, err := g.identities(ctx)
	return g.now(both.committer, "GIT_COMMITTER_DATE"), err
}

func (g *Git) now(who domarkx.Signature, variable string) domarkx.Signature {
	if date, ok := lookup(g.caller, variable); !ok || date == "" {
		who.When = time.Now().Truncate(time.Second)
	}
	return who
}

// identities obtains both from one git process.
// "git var -l" prints the configuration first, whose values may contain newlines, and then the
// variables; so the last line of a name counts.
func (g *Git) identities(ctx context.Context) (identities, error) {
	return g.known.identities.get(func() (identities, error) {
		out, err := g.Run(ctx, nil, "var", "-l")
		if err != nil {
			return identities{}, fmt.Errorf("asking git who you are: %w", err)
		}
		author, err := parseIdent(lastLine(out, "GIT_AUTHOR_IDENT="))
		if err != nil {
			return identities{}, err
		}
		committer, err := parseIdent(lastLine(out, "GIT_COMMITTER_IDENT="))
		if err != nil {
			return identities{}, err
		}
		return identities{orUser(author), orUser(committer)}, nil
	})
}

func lastLine(out []byte, prefix string) string {
	start := bytes.LastIndex(out, []byte("\n"+prefix)) + 1
	if start == 0 && !bytes.HasPrefix(out, []byte(prefix)) {
		return ""
	}
	line, _, _ := bytes.Cut(out[start:], []byte("\n"))
	return string(line[len(prefix):])
}

// parseIdent parses NAME <EMAIL> SECONDS ZONE.
func parseIdent(line string) (domarkx.Signature, error) {
	bad := fmt.Errorf("asking git who you are: %q is no identity", line)
	open, end := strings.LastIndexByte(line, '<'), strings.LastIndexByte(line, '>')
	if open < 0 || end < open {
		return domarkx.Signature{}, bad
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) != 2 || len(fields[1]) != 5 {
		return domarkx.Signature{}, bad
	}
	seconds, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return domarkx.Signature{}, bad
	}
	zone, err := strconv.Atoi(fields[1])
	if err != nil {
		return domarkx.Signature{}, bad
	}
	offset := (zone/100*60 + zone%100) * 60
	when := time.Unix(seconds, 0).In(time.FixedZone("", offset))
	return domarkx.Signature{Name: strings.TrimSpace(line[:open]), Email: line[open+1 : end], When: when}, nil
}

// orUser replaces what git guessed: without a configured address it derives one from the host's
// name, which ends in ".(none)" if the host has no domain.
func orUser(who domarkx.Signature) domarkx.Signature {
	login := "unknown"
	if u, err := user.Current(); err == nil && clean(u.Username) != "" {
		login = clean(u.Username)
	}
	if clean(who.Name) == "" {
		who.Name = login
	}
	if who.Email == "" || strings.HasSuffix(who.Email, ".(none)") {
		who.Email = login + "@localhost"
	}
	return who
}

// clean removes characters that Git does not allow in identities.
func clean(name string) string {
	if i := strings.LastIndexByte(name, '\\'); i >= 0 {
		name = name[i+1:] // on Windows: DOMAIN\user
	}
	return strings.Trim(strings.NewReplacer("<", "", ">", "", "\n", "", "\x00", "").Replace(name), " .,:;\"'")
}

// Editor returns the command line of the user's editor, for a shell (git-var(1), GIT_EDITOR).
func (g *Git) Editor(ctx context.Context) (string, error) { return g.variable(ctx, "GIT_EDITOR") }

// Pager returns the command line of the user's pager, for a shell (git-var(1), GIT_PAGER).
func (g *Git) Pager(ctx context.Context) (string, error) { return g.variable(ctx, "GIT_PAGER") }

func (g *Git) variable(ctx context.Context, name string) (string, error) {
	out, err := g.Run(ctx, nil, "var", name)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
