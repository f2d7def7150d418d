package integration_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// aroundTransactions lists the production files that may name what package transaction keeps from others, and why.
var aroundTransactions = []struct{ file, name, because string }{
	{"git-domarkx/engine/transaction/transaction.go", "gitstore.Tx", "it is the only way to change sessions and workspaces"},
	{"git-domarkx/secrets/redact/expire.go", "gitstore.Tx", "an expiry replaces histories, and adds nothing to them"},
	{"git-domarkx/secrets/redact/rewrite.go", "gitstore.Tx", "a redaction replaces histories, and adds nothing to them"},
	{"git-domarkx/secrets/redact/redact.go", "gitstore.Tx", "a redaction replaces histories, and adds nothing to them"},
	{"git-domarkx/secrets/redact/receive.go", "gitstore.Tx", "it takes over a redaction"},
	{"git-domarkx/secrets/redact/snapshot.go", "gitstore.Tx", "a redaction replaces histories, and adds nothing to them"},
	{"git-domarkx/secrets/redact/version.go", "gitstore.Tx", "a redaction replaces histories, and adds nothing to them"},

	{"git-domarkx/engine/transfer/remote_refs.go", "refdb.Open", "it moves the refs of what remotes have"},
	{"git-domarkx/engine/transfer/remote_refs.go", "refdb.Change", "it moves the refs of what remotes have"},

	{"git-domarkx/engine/save.go", "transaction.AsIs", "an author's own bytes, from edit or the mount"},
	{"git-domarkx/engine/attach.go", "transaction.AsIs", "an author's own files, from the mount"},
	{"git-domarkx/engine/merge.go", "transaction.AsIs", "what two snapshots have"},
	{"git-domarkx/engine/continue.go", "transaction.AsIs", "what an earlier snapshot of the history has, in a rewind or a fork"},
	{"git-domarkx/agents/observe/link.go", "transaction.AsIs", "only links are added"},
}

// keptFromOthers are the names by which sessions and workspaces could be changed without a filter for secrets: a function for an
// update of the store has to name its transaction.
var keptFromOthers = map[string]bool{"gitstore.Tx": true, "snapshot.Builder": true, "snapshot.NewBuilder": true,
	"refdb.Open": true, "refdb.Change": true, "transaction.AsIs": true}

// TestTransactions checks that production code changes sessions and workspaces only through package transaction, that only the
// files above add something without a filter for secrets, and that no entry of that list is stale.
func TestTransactions(t *testing.T) {
	found := map[[2]string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "git-domarkx"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if e.IsDir() && (e.Name() == "testdata" || strings.HasSuffix(e.Name(), "test")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imported := map[string]string{} // name → last component of the path
		for _, imp := range file.Imports {
			library := strings.Trim(imp.Path.Value, `"`)
			last := library[strings.LastIndexByte(library, '/')+1:]
			if imp.Name != nil {
				imported[imp.Name.Name] = last
			} else {
				imported[last] = last
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && keptFromOthers[imported[x.Name]+"."+selector.Sel.Name] {
				found[[2]string{name, imported[x.Name] + "." + selector.Sel.Name}] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range aroundTransactions {
		if !found[[2]string{a.file, a.name}] {
			t.Errorf("%s does not use %s any more: remove it from the list", a.file, a.name)
		}
		delete(found, [2]string{a.file, a.name})
	}
	for key := range found {
		t.Errorf("%s uses %s: change sessions and workspaces through a transaction.Tx, with its filter for secrets", key[0], key[1])
	}
}
