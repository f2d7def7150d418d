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
)

// A Commit is what this program uses of a Git commit. go-git encodes and decodes it.
type Commit struct {
	Tree              odb.ID
	Parents           []odb.ID
	Author, Committer domarkx.Signature
	Message           []byte
}

// Encode returns the commit as git commit-tree writes it, without an encoding or a
// signature (git-commit-tree(1)).
func (c *Commit) Encode() ([]byte, error) {
	commit := object.Commit{TreeHash: plumbing.Hash(c.Tree), Author: encodeSignature(c.Author), Committer: encodeSignature(c.Committer), Message: string(c.Message)}
	for _, p := range c.Parents {
		commit.ParentHashes = append(commit.ParentHashes, plumbing.Hash(p))
	}
	var encoded plumbing.MemoryObject
	if err := commit.Encode(&encoded); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	r, err := encoded.Reader()
	if err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	return io.ReadAll(r)
}

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

// parentLine is the size in bytes of the header of a parent.
const parentLine = len("parent \n") + 2*len(odb.ID{})

// DecodeCommit decodes a commit with that id. Headers that this package does not use are ignored. An
// invalid commit, or one with over 64 KiB of headers besides parents, is [domarkx.ErrCorrupt].
func DecodeCommit(id odb.ID, data []byte) (*Commit, error) {
	headers, _, _ := bytes.Cut(data, []byte("\n\n"))
	if len(headers)-parentLine*bytes.Count(headers, []byte("\nparent ")) > maxCommitHeaders {
		return nil, fmt.Errorf("%w: commit with more than %d KiB of headers", domarkx.ErrCorrupt, maxCommitHeaders>>10)
	}
	var commit object.Commit
	if err := commit.Decode(&storedObject{id: id, data: data}); err != nil {
		return nil, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	c := &Commit{Tree: odb.ID(commit.TreeHash), Author: decodeSignature(commit.Author), Committer: decodeSignature(commit.Committer), Message: []byte(commit.Message)}
	if c.Author.When.IsZero() || c.Committer.When.IsZero() {
		return nil, fmt.Errorf("%w: commit without a valid author or committer", domarkx.ErrCorrupt)
	}
	for _, p := range commit.ParentHashes {
		c.Parents = append(c.Parents, odb.ID(p))
	}
	return c, nil
}

func decodeSignature(s object.Signature) domarkx.Signature {
	return domarkx.Signature{Name: s.Name, Email: s.Email, When: s.When}
}

// A storedObject is a commit in memory as [plumbing.EncodedObject]. Unlike
// [plumbing.MemoryObject] it does not copy or hash the data.
type storedObject struct {
	plumbing.MemoryObject
	id   odb.ID
	data []byte
}

func (o *storedObject) Hash() plumbing.Hash       { return plumbing.Hash(o.id) }
func (o *storedObject) Type() plumbing.ObjectType { return plumbing.CommitObject }
func (o *storedObject) Size() int64               { return int64(len(o.data)) }
func (o *storedObject) Reader() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(o.data)), nil
}
