package codec

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Commit is what this program uses of a Git commit. go-git encodes and decodes all but the ids at its beginning,
// because go-git is compiled for one hash function.
type Commit struct {
	Tree              odb.ID
	Parents           []odb.ID
	Author, Committer domarkx.Signature
	Message           []byte
}

// Encode returns the commit as git commit-tree writes it, without an encoding or a
// signature (git-commit-tree(1)).
func (c *Commit) Encode() ([]byte, error) {
	commit := object.Commit{Author: encodeSignature(c.Author), Committer: encodeSignature(c.Committer), Message: string(c.Message)}
	var encoded plumbing.MemoryObject
	if err := commit.Encode(&encoded); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	r, err := encoded.Reader()
	if err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	_, rest, _ := bytes.Cut(all, []byte{'\n'}) // after the tree, which is zero
	data := fmt.Appendf(nil, "%s%s\n", treeHeader, c.Tree)
	for _, p := range c.Parents {
		data = fmt.Appendf(data, "%s%s\n", parentHeader, p)
	}
	return append(data, rest...), nil
}

// The headers at the beginning of a commit: one tree, then any number of parents.
const (
	treeHeader   = "tree "
	parentHeader = "parent "
)

// encodeSignature returns a signature that git fsck --strict accepts: without control
// characters, angle brackets, dates before 1970 and time zones of a day or more.
func encodeSignature(s domarkx.Signature) object.Signature {
	clean := func(text string) string {
		text = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '<' || r == '>' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(text, "\ufffd"))
		return strings.Trim(text, " .,:;\"\\'")
	}
	name := clean(s.Name)
	if name == "" {
		name = "unknown"
	}
	_, offset := s.When.Zone()
	const day = 24 * 60 * 60
	return object.Signature{Name: name, Email: clean(s.Email), When: s.When.In(time.FixedZone("", offset%day))}
}

// maxCommitHeaders is the largest size in bytes of the headers of a commit besides its
// parents. It bounds the time that go-git needs: it joins the lines of a header one by one.
const maxCommitHeaders = 64 << 10

// DecodeCommit decodes a commit with ids of a hash function. Headers that this package does not use are ignored. An
// invalid commit, or one with over 64 KiB of headers besides parents, is [domarkx.ErrCorrupt].
func DecodeCommit(by oid.Hash, data []byte) (*Commit, error) {
	c := &Commit{}
	tree, rest, err := cutID(by, data, treeHeader)
	if err != nil {
		return nil, err
	}
	c.Tree = tree
	for bytes.HasPrefix(rest, []byte(parentHeader)) {
		var parent odb.ID
		if parent, rest, err = cutID(by, rest, parentHeader); err != nil {
			return nil, err
		}
		c.Parents = append(c.Parents, parent)
	}
	if headers, _, _ := bytes.Cut(rest, []byte("\n\n")); len(headers) > maxCommitHeaders {
		return nil, fmt.Errorf("%w: commit with more than %d KiB of headers", domarkx.ErrCorrupt, maxCommitHeaders>>10)
	}
	var commit object.Commit
	var stored plumbing.MemoryObject
	stored.SetType(plumbing.CommitObject)
	_, _ = stored.Write(append([]byte(zeroTree), rest...)) // into memory
	if err := commit.Decode(&stored); err != nil {
		return nil, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	if !commit.TreeHash.IsZero() || len(commit.ParentHashes) > 0 {
		return nil, fmt.Errorf("%w: commit with a tree or parent after other headers", domarkx.ErrCorrupt)
	}
	c.Author, c.Committer, c.Message = domarkx.Signature(commit.Author), domarkx.Signature(commit.Committer), []byte(commit.Message)
	if c.Author.When.IsZero() || c.Committer.When.IsZero() {
		return nil, fmt.Errorf("%w: commit without a valid author or committer", domarkx.ErrCorrupt)
	}
	return c, nil
}

// cutID returns the id in the header at the beginning of data, and what follows the header.
func cutID(by oid.Hash, data []byte, header string) (odb.ID, []byte, error) {
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	text, ok := bytes.CutPrefix(line, []byte(header))
	if !ok {
		return odb.ID{}, nil, fmt.Errorf("%w: commit without the header %q at its place", domarkx.ErrCorrupt, header)
	}
	id, err := by.Parse(string(text))
	if err != nil {
		return odb.ID{}, nil, fmt.Errorf("%w: commit with %q: %v", domarkx.ErrCorrupt, header, err)
	}
	return id, rest, nil
}

// zeroTree is the header of a tree as go-git expects it.
const zeroTree = treeHeader + "0000000000000000000000000000000000000000\n"
