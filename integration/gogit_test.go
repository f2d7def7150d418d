package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ownFormats lists the production files that encode or decode a format of Git themselves.
// Everywhere else go-git does it. Ratios are those of the benchmarks named, on two cores of
// an AMD EPYC; a file without a benchmark names the reason.
var ownFormats = []struct{ file, format, because string }{
	{"gitstore/codec/commit.go", "commit", "go-git encodes and decodes; this bounds the size of the headers before, since go-git joins the lines of a header in quadratic time"},
	{"gitstore/odb/tree.go", "tree", "BenchmarkDecodeTree: 3.4 times as fast with 2 instead of 160 allocations, BenchmarkEncodeTree: 2.0 times; go-git also hides modes that Git does not write, which change the id"},
	{"gitstore/odb/packfile/packfile.go", "pack", "BenchmarkReadPacked: 2.4 times as fast, goroutines can share it, and ids may be of either hash"},
	{"gitstore/odb/packfinish.go", "pack", "go-git does not make a pack durable before it appears; BenchmarkWriteBulk"},
	{"gitstore/odb/packidx/read.go", "pack index", "BenchmarkFind: over 1,000 times as fast, because it reads a mapped file in place"},
	{"gitstore/odb/packidx/write.go", "pack index", "BenchmarkWrite: 1.7 times as fast in a sixth of the memory"},
	{"plugins/git_repository/index.go", "index", "go-git drops flags and extensions that a version must keep (TestGoGitLosesIndexData)"},
}

// formatLiterals are the string and number literals by which code that encodes or decodes
// a format of Git is recognised.
var formatLiterals = []struct {
	format  string
	literal *regexp.Regexp
}{
	{"commit", regexp.MustCompile(`^committer$|^\n?(tree|parent|author|committer|gpgsig|mergetag) (%[sxv]\n.*)?$`)},
	{"tag", regexp.MustCompile(`^tagger$|^\n?tagger (%[sxv]\n.*)?$`)},
	{"tree", regexp.MustCompile(`^(100644|100755|160000)( |$)|^40000 `)},
	{"index", regexp.MustCompile(`^(DIRC|REUC|UNTR|FSMN|EOIE|IEOT)`)},
	{"pack", regexp.MustCompile(`^PACK`)},
	{"pack index", regexp.MustCompile(`^.tOc`)},
}

// TestGoGit checks that production code leaves commits, trees, tags, indexes and packs to
// go-git, except in the files of ownFormats, and that no entry of that list is stale.
func TestGoGit(t *testing.T) {
	found := map[[2]string]bool{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || len(e.Name()) > 2 && e.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		for _, format := range formatsIn(file) {
			found[[2]string{name, format}] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range ownFormats {
		if !found[[2]string{own.file, own.format}] {
			t.Errorf("%s does not encode or decode a %s any more: remove it from the list", own.file, own.format)
		}
		delete(found, [2]string{own.file, own.format})
	}
	for key := range found {
		t.Errorf("%s seems to encode or decode a %s of Git: use go-git, or measure that it is too slow and add the file to the list", key[0], key[1])
	}
	for _, p := range listPackages(t) {
		if relative(p.ImportPath) == "gitstore/codec" && !slices.Contains(p.Imports, "github.com/go-git/go-git/v5/plumbing/object") {
			t.Error("gitstore/codec does not encode commits with go-git")
		}
	}
}

// formatsIn returns the formats that a file seems to encode or decode.
func formatsIn(file *ast.File) (formats []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		text := literal.Value
		switch literal.Kind {
		case token.STRING:
			text, _ = strconv.Unquote(literal.Value)
		case token.INT: // a mode in octal
			octal, ok := strings.CutPrefix(literal.Value, "0")
			if !ok {
				return true
			}
			text = strings.TrimLeft(octal, "o0")
		}
		for _, f := range formatLiterals {
			if f.literal.MatchString(text) {
				formats = append(formats, f.format)
			}
		}
		return true
	})
	return formats
}
