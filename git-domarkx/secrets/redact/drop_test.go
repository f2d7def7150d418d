package redact_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/plugins"
)

// tarball returns an archive with a file that has a text.
func tarball(text string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: "a", Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}), second(w.Write([]byte(text))), w.Close())
	if err != nil {
		panic(err)
	}
	return b.String()
}

func second[T any](_ T, err error) error { return err }

// dumped are notes whose versions have to load as they are, like those of a database.
type dumped struct{ *enginetest.Notes }

func (d dumped) Describe(ctx context.Context) (domarkx.Description, error) {
	about, err := d.Notes.Describe(ctx)
	about.Dump = true
	return about, err
}

// versions links versions of a workspace with these files, one after the other.
func versions(p peer, all ...[]enginetest.VersionFile) (ids []string) {
	p.T.Helper()
	for _, files := range all {
		v := p.Version("s", nil, files...)
		p.Linked("s", v.ID, enginetest.Saying(domarkx.Assistant, "Done."))
		ids = append(ids, v.ID)
	}
	return ids
}

// tip returns the newest version of the workspace.
func (p peer) tip() domarkx.Version {
	p.T.Helper()
	v, err := p.Store.WorkspaceTip(p.T.Context(), "s")
	if err != nil {
		p.T.Fatal(err)
	}
	return v
}

// TestDrop redacts files that cannot be edited: it names them and changes nothing, unless their resource may be dropped.
// Then it is empty in the versions that have the secret, and as it was in all others.
func TestDrop(t *testing.T) {
	file := enginetest.RegularFile
	for name, tt := range map[string]struct {
		file  enginetest.VersionFile
		where string // of the refused file, as a regular expression
	}{
		"binary":    {file("a.bin", "\x00\x01 "+secret), `notes/a\.bin`},
		"a picture": {file("a.png", picture("made with "+secret)), `notes/a\.png`},
		"UTF-16":    {file("a.txt", "\xff\xfe"+strings.Join(strings.Split(secret+" ", ""), "\x00")), `notes/a\.txt`},
		"archive":   {file("a.tar", tarball(secret)), `notes/a\.tar`},
		"name":      {file(secret, "x"), `notes/\[REDACTED:github-pat:1\], by its name`},
		"directory": {enginetest.OtherFile(secret, domarkx.Directory, ""), `notes/\[REDACTED:github-pat:1\], by its name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(enginetest.New(t))
			plain := []enginetest.VersionFile{file("z", "plain\n")}
			ids := versions(p, plain, append([]enginetest.VersionFile{tt.file}, plain...), plain)
			before := p.refs("refs")
			for range 2 { // for something else, and for nothing
				result, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s", Drop: []string{"other"}})
				if err != nil || len(result.Stuck) == 0 || len(result.Kept) > 0 || p.refs("refs") != before {
					t.Fatalf("not refused: %+v, %v", result, err)
				}
				where := regexp.MustCompile(fmt.Sprintf(`^workspace version %.12s: %s$`, ids[1], tt.where))
				for _, s := range result.Stuck {
					if !where.MatchString(s.Where) || s.Drop != "notes" || s.Rule != "github-pat" && s.Rule != "github-token" || strings.Contains(s.Where, secret) {
						t.Errorf("refused: %+v", s)
					}
				}
			}
			p.redact(redact.Request{Name: "s", Drop: []string{"notes"}})
			p.without(secret)
			p.Fsck()
			if got := p.File(t, p.tip().ID, "z"); got != "plain\n" {
				t.Errorf("the version after: %q", got)
			}
			replaced, err := p.Store.Replacements()
			if err != nil {
				t.Fatal(err)
			}
			if replaced[ids[0]] != "" || p.File(t, ids[0], "z") != "plain\n" {
				t.Error("the version before changed")
			}
			if got := p.File(t, replaced[ids[1]], "z"); got != "-" {
				t.Errorf("the version itself has %q", got)
			}
		})
	}
}

// TestDropDump drops a database: a version with a secret becomes the one before without one, and is left out where there is none.
func TestDropDump(t *testing.T) {
	file := enginetest.RegularFile
	clean, dirty, later := []enginetest.VersionFile{file("dump", "insert 1;\n")}, []enginetest.VersionFile{file("dump", "insert '"+secret+"';\n")}, []enginetest.VersionFile{file("dump", "insert 2;\n")}
	for name, tt := range map[string]struct {
		versions [][]enginetest.VersionFile
		want     []string // the dump in each version after the redaction; nil if it is refused
	}{
		"in the middle":   {[][]enginetest.VersionFile{clean, dirty, later}, []string{"insert 1;\n", "insert 1;\n", "insert 2;\n"}},
		"twice":           {[][]enginetest.VersionFile{clean, dirty, dirty}, []string{"insert 1;\n", "insert 1;\n", "insert 1;\n"}},
		"after a later":   {[][]enginetest.VersionFile{clean, later, dirty}, []string{"insert 1;\n", "insert 2;\n", "insert 2;\n"}},
		"from the begin":  {[][]enginetest.VersionFile{dirty, clean}, nil},
		"in each version": {[][]enginetest.VersionFile{dirty}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := enginetest.New(t)
			c.Env.Workspaces = plugins.New([]domarkx.Plugin{dumped{c.Notes}}, nil, plugins.Config{Dir: t.TempDir()})
			p := newPeer(c)
			ids := versions(p, tt.versions...)
			result, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s"})
			if err != nil || len(result.Stuck) == 0 || result.Stuck[0].Drop != "notes" {
				t.Fatalf("not refused: %+v, %v", result, err)
			}
			before := p.refs("refs")
			result, err = p.redactions.Redact(t.Context(), redact.Request{Name: "s", Drop: []string{"notes"}})
			if tt.want == nil {
				if err == nil || !strings.Contains(err.Error(), "cannot be dropped; remove the workspace") || p.refs("refs") != before {
					t.Errorf("%+v, %v", result, err)
				}
				return
			}
			if err != nil || len(result.Stuck) > 0 {
				t.Fatalf("%+v, %v", result, err)
			}
			replaced, err := p.Store.Replacements()
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				id := ids[i]
				if replaced[id] != "" {
					id = replaced[id]
				}
				if got := p.File(t, id, "dump"); got != want {
					t.Errorf("version %d: %q, want %q", i+1, got, want)
				}
			}
			p.without(secret)
			p.Fsck()
		})
	}
}

// TestDropOneOfTwo drops one of two resources with the same content: the other one keeps the session from being redacted.
func TestDropOneOfTwo(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	v := versions(p, []enginetest.VersionFile{enginetest.RegularFile("a", "\x00"+secret)})[0]
	ctx := t.Context()
	state, err := p.Store.Version(ctx, v)
	if err != nil {
		t.Fatal(err)
	}
	twin := state.Resources[0]
	twin.ID = "twin"
	who, _, err := p.Env.Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Store.Update(ctx, "test", func(tx *gitstore.Tx) error {
		now, err := tx.CommitVersion(ctx, "s", domarkx.VersionCommit{Parents: []string{v}, Operation: "call", Subject: "two", Author: who, Committer: who,
			Resources: []domarkx.ResourceVersion{state.Resources[0], twin}})
		if err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, "s", now.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range []string{"notes", "twin"} {
		result, err := p.redactions.Redact(ctx, redact.Request{Name: "s", Drop: []string{drop}})
		left := map[string]string{"notes": "twin", "twin": "notes"}[drop]
		if err != nil || len(result.Stuck) == 0 || slices.ContainsFunc(result.Stuck, func(s redact.Stuck) bool { return s.Drop != left }) {
			t.Errorf("without %s: %+v, %v", drop, result, err)
		}
	}
	p.redact(redact.Request{Name: "s", Drop: []string{"notes", "twin"}})
	p.without(secret)
	if now := p.tip(); len(now.Resources) != 2 || now.Resources[0].Version != now.Resources[1].Version {
		t.Errorf("resources: %+v", now.Resources)
	}
}

// TestDropAttachment drops attachments that cannot be edited, by their digests, and only these.
func TestDropAttachment(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	one, two := picture("made with "+secret), picture("by "+secret)
	document := "## user\n\nLook: ![one](one.png) ![two](two.png) ![three](three.png)\n"
	p.WriteFile("one.png", one)
	p.WriteFile("two.png", two)
	p.WriteFile("three.png", picture("plain"))
	p.ImportOne(importer.Request{Paths: []string{p.WriteFile("s.md", document)}, Attach: []string{p.WriteFile("a.tar", tarball(secret))}})
	result, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s"})
	if err != nil || len(result.Stuck) != 3 {
		t.Fatalf("%+v, %v", result, err)
	}
	var drop []string
	for i, s := range result.Stuck {
		if s.Where != "attachment "+s.Drop || s.Rule == "" || slices.Contains(drop, s.Drop) {
			t.Errorf("refused: %+v", s)
		}
		drop = append(drop, s.Drop)
		left, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s", Drop: drop, DryRun: true})
		if err != nil || len(left.Stuck) != 2-i {
			t.Errorf("with %d dropped: %+v, %v", i+1, left, err)
		}
	}
	p.redact(redact.Request{Name: "s", Drop: drop})
	p.without(secret)
	p.Fsck()
	all, err := p.Store.AttachmentsOf(t.Context(), p.Tip("s").ID)
	if err != nil {
		t.Fatal(err)
	}
	kept := false
	for _, a := range all {
		data, err := p.Store.Read(t.Context(), a.Blob)
		if err != nil {
			t.Fatal(err)
		}
		kept = kept || string(data) == picture("plain")
	}
	if !kept {
		t.Error("the picture without a secret is gone")
	}
}

// TestAllowed redacts a session in which the user allowed the only secret of a file that cannot be edited.
func TestAllowed(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	versions(p, []enginetest.VersionFile{enginetest.RegularFile("a", "\x00"+other), enginetest.RegularFile("b.tar", tarball(other)), enginetest.RegularFile("c", "See "+other+" and "+secret+".")})
	scans := scan.New(p.Store, p.Env)
	scanner, err := scans.Scanner(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := scans.Allow(t.Context(), []string{scanner.Text([]byte(other))[0].Fingerprint}, true); err != nil {
		t.Fatal(err)
	}
	if result := p.redact(redact.Request{Name: "s"}); result.Secrets != 1 {
		t.Errorf("%+v", result)
	}
	for name, want := range map[string]string{"a": "\x00" + other, "b.tar": tarball(other), "c": "See " + other + " and [REDACTED:github-pat:1]."} {
		if got := p.File(t, p.tip().ID, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	p.Fsck()
}
