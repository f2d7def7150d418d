package redact

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Limits for reading the objects of Git repositories in a workspace. A pack that exceeds them
// counts as one with a secret, because its contents are unknown.
const (
	maxNestedPack   = 256 << 20 // maximum size of a pack in bytes
	maxNestedObject = 32 << 20  // maximum size of an object in bytes; larger ones, like large files, are not searched
	maxNestedTotal  = 2 << 30   // maximum size of all objects of a pack in bytes
)

// unread is reported in place of a rule if content could not be searched.
const unread = "not readable"

var nestedPaths = sync.OnceValues(func() (loose, packed *regexp.Regexp) {
	return regexp.MustCompile(`(^|/)objects/[0-9a-f]{2}/[0-9a-f]{38}$`), regexp.MustCompile(`(^|/)objects/pack/(pack-[0-9a-f]+)\.(pack|idx)$`)
})

// A nested collects the packs of the Git repositories in a version of a resource.
type nested struct {
	packs map[string]*nestedPack // path without extension → pack
}

// A nestedPack holds the two files of a pack.
type nestedPack struct{ pack, index domarkx.Blob }

// add collects a file if it belongs to a pack, and reports whether it does.
func (n *nested) add(f snapshot.VersionFile) bool {
	_, packed := nestedPaths()
	base, isIndex := strings.CutSuffix(f.Path, ".idx")
	base = strings.TrimSuffix(base, ".pack")
	if !packed.MatchString(f.Path) {
		return false
	}
	if n.packs == nil {
		n.packs = map[string]*nestedPack{}
	}
	p := n.packs[base]
	if p == nil {
		p = &nestedPack{}
		n.packs[base] = p
	}
	if isIndex {
		p.index = f.Blob
	} else {
		p.pack = f.Blob
	}
	return true
}

// isLooseObject reports whether the path of a file is that of a loose Git object.
func isLooseObject(path string) bool {
	loose, _ := nestedPaths()
	return loose.MatchString(path)
}

// inObject returns the rule that finds a secret in a loose object, or "" if there is none.
func (t *table) inObject(data []byte) string {
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return "" // not an object
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxNestedObject))
	if err != nil && len(content) == 0 {
		return ""
	}
	_, content, _ = bytes.Cut(content, []byte("\x00"))
	return t.ruleOf(content)
}

// ruleOf returns the rule that finds a secret in text or binary content, or "" if there is none.
func (t *table) ruleOf(content []byte) string {
	if text, changed := t.redact(content, isText(content)); changed {
		return t.ruleIn(text)
	}
	if isText(content) {
		return ""
	}
	for _, f := range t.scan.File("", content) {
		if t.allow == nil || !t.allow(f.Fingerprint) {
			return f.Rule
		}
	}
	return ""
}

// inPack returns the rule that finds a secret in an object of a pack, or "" if there is none. The
// pack may be malicious: inPack reads it with package odb in a temporary directory and never runs
// git on it.
func (w *rewriter) inPack(ctx context.Context, p *nestedPack) (rule string, err error) {
	if p.pack.ID == "" || p.index.ID == "" {
		return "", nil // Git does not read one file without the other
	}
	dir, err := os.MkdirTemp("", "domarkx-pack-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	packs := filepath.Join(dir, "objects", "pack")
	if err := os.MkdirAll(packs, 0o700); err != nil {
		return "", err
	}
	base := filepath.Join(packs, "pack-"+strings.Repeat("0", 40))
	for extension, blob := range map[string]domarkx.Blob{".pack": p.pack, ".idx": p.index} {
		data, err := w.tx.Read(ctx, blob)
		if err != nil {
			return "", err
		}
		if len(data) > maxNestedPack {
			return unread, nil
		}
		if err := os.WriteFile(base+extension, data, 0o600); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return "", err
	}
	index, err := packidx.Parse(data)
	if err != nil {
		return unread, nil
	}
	db, err := odb.Open(dir, dir)
	if err != nil {
		return unread, nil
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	total := int64(0)
	for i := range index.Len() {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		id := odb.ID(index.ID(i))
		kind, size, err := db.Size(id)
		if err != nil {
			return unread, nil
		}
		if kind == odb.Tree || size > maxNestedObject {
			continue
		}
		if total += size; total > maxNestedTotal {
			return unread, nil
		}
		_, content, err := db.Read(id)
		if err != nil {
			return unread, nil
		}
		if rule := w.table.ruleOf(content); rule != "" {
			return rule, nil
		}
	}
	return "", nil
}

func (w *rewriter) stuckPacks(ctx context.Context, n *nested, where func(path string) string, drop string) ([]Stuck, error) {
	var stuck []Stuck
	for base, p := range n.packs {
		key := p.pack.ID + " " + p.index.ID
		rule, ok := w.packs[key]
		if !ok {
			var err error
			if rule, err = w.inPack(ctx, p); err != nil {
				return nil, fmt.Errorf("pack %q: %w", base, err)
			}
			w.packs[key] = rule
		}
		if rule != "" {
			stuck = append(stuck, Stuck{Where: where(base + ".pack"), Drop: drop, Rule: rule})
		}
	}
	return stuck, nil
}
