package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A commitObject is a Git commit as far as this package reads and writes it.
type commitObject struct {
	tree              odb.ID
	parents           []odb.ID
	author, committer domarkx.Signature
	message           []byte
}

// encode writes the object as git commit-tree does, without an encoding or a
// signature (gitformat-commit, git-commit-tree(1)).
func (c *commitObject) encode() []byte {
	var b bytes.Buffer
	b.WriteString("tree " + c.tree.String() + "\n")
	for _, p := range c.parents {
		b.WriteString("parent " + p.String() + "\n")
	}
	b.WriteString("author " + formatSignature(c.author) + "\n")
	b.WriteString("committer " + formatSignature(c.committer) + "\n\n")
	b.Write(c.message)
	return b.Bytes()
}

// formatSignature writes a name, an address and a date so that git fsck --strict
// accepts them whatever they hold.
func formatSignature(s domarkx.Signature) string {
	clean := func(text string) string {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '<' || r == '>' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "\ufffd"))
		return strings.Trim(text, " .,:;\"\\'")
	}
	name, email := clean(s.Name), clean(s.Email)
	if name == "" {
		name = "unknown"
	}
	_, offset := s.When.Zone()
	sign, offset := '+', offset/60
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Sprintf("%s <%s> %d %c%02d%02d", name, email, max(0, s.When.Unix()), sign, offset/60%24, offset%60)
}

// decodeCommit reads a commit. It passes over headers that it does not need.
func decodeCommit(data []byte) (*commitObject, error) {
	bad := func(what string) (*commitObject, error) {
		return nil, fmt.Errorf("%w: commit with %s", domarkx.ErrCorrupt, what)
	}
	head, message, ok := bytes.Cut(data, []byte("\n\n"))
	if !ok {
		head, message = bytes.TrimSuffix(data, []byte("\n")), nil
	}
	c := &commitObject{message: message}
	for i, line := range strings.Split(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		var err error
		switch {
		case i == 0 && key != "tree":
			return bad("no tree")
		case i == 0:
			c.tree, err = odb.ParseID(value)
		case key == "parent":
			var p odb.ID
			p, err = odb.ParseID(value)
			c.parents = append(c.parents, p)
		case key == "author":
			c.author, err = parseSignature(value)
		case key == "committer":
			c.committer, err = parseSignature(value)
		}
		if err != nil {
			return bad("a bad line " + strconv.Quote(line))
		}
	}
	return c, nil
}

func parseSignature(s string) (domarkx.Signature, error) {
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		return domarkx.Signature{}, errLine
	}
	sig := domarkx.Signature{Name: strings.TrimSpace(s[:open]), Email: s[open+1 : end]}
	date, zone, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		return sig, errLine
	}
	offset, err := strconv.Atoi(zone)
	if err != nil {
		return sig, errLine
	}
	offset = (offset/100*60 + offset%100) * 60
	sig.When = time.Unix(seconds, 0).In(time.FixedZone("", offset))
	return sig, nil
}
