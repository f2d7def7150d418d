package integration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/domarkx/domarkx"

// model stands for the packages of the model in the lists of arrows.
const model = "format/domarkx, format/jsonvalue, format/syntax, format/wtf8"

// arrows lists the allowed dependencies, direct or indirect, of the packages below a
// directory: directories of this module (a path ending in "/." means only that package),
// and the libraries that only they may use. Packages of one directory may always import
// each other. For a directory inside another one, only its own entry applies.
var arrows = []arrow{
	{"format/wtf8", nil, "an encoding knows nothing of what it encodes"},
	{"format/syntax", nil, "a place in a document is the same in all formats"},
	{"format/jsonvalue", []string{"format/syntax", "format/wtf8"}, "JSON values know nothing of sessions"},
	{"format/domarkx", []string{"format/jsonvalue", "format/syntax", "format/wtf8"}, "the model is imported by everything and imports only what it is made of"},
	{"format", []string{model}, "formats turn bytes into the model and back"},
	{"gitstore", []string{model}, "the store turns the model into Git objects and back"},
	{"gitstore/refname", []string{model}, "names are checked without a repository"},
	{"gitstore/object", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/atomicfile"}, "objects know nothing of what is made of them"},
	{"gitstore/fanout", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/object", "gitstore/atomicfile"}, "numbered files are stored whatever is in them"},
	{"gitstore/original", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/object", "gitstore/fanout", "gitstore/atomicfile"}, "originals are stored without knowing the snapshots that were made from them"},
	{"gitstore/snapshot", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/object", "gitstore/fanout", "gitstore/original", "gitstore/version", "gitstore/refname", "gitstore/refdb", "gitstore/gitcmd", "gitstore/atomicfile"}, "what reads and writes objects does not move refs"},
	{"gitstore/codec", []string{model, "gitstore/odb", "gitstore/atomicfile"}, "codecs do no input or output"},
	{"gitstore/purge", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/gitcmd", "gitstore/atomicfile"}, "objects are removed whatever is in them"},
	{"gitstore/version", []string{model, "gitstore/odb", "gitstore/atomicfile"}, "sessions contain versions of resources, not the reverse"},
	{"gitstore/atomicfile", nil, "whoever writes files may use it, and it knows nothing of what is in them"},
	{"fusefs", []string{model, "gitstore/atomicfile"}, "the mount shows the model, and declares what it needs"},
	{"plugins", []string{model, "format/schema", "format/.", "gitstore/atomicfile"}, "plugins know the model and JSON Schemas, not Git"},
	{"plugins/git_repository", []string{model, "format/schema", "format/.", "plugins", "gitstore/gitcmd", "gitstore/atomicfile"}, "a repository is worked on by running git"},
	{"plugins/all", []string{"format", "plugins", "gitstore/gitcmd", "gitstore/atomicfile"}, "the registry needs what the plugins need"},
	{"plugins/openpocket", []string{"format", "plugins", "gitstore/atomicfile"}, "sessions of OpenPocket are written where they are read, so that the two agree"},
	{"git-domarkx/background", nil, "a program in the background is any program"},
	{"git-domarkx/mountd", []string{"format", "plugins", "fusefs", "gitstore", "git-domarkx/engine", "git-domarkx/background"}, "the mount is served without knowing the command line"},
	{"git-domarkx/web", []string{"git-domarkx/engine", "format", "gitstore", "plugins/.", "plugins/dirversion", "plugins/gitignore", "fusefs/drafts", "plugins/sqlite/sqlite3"}, "pages show what the engine returns"},
	{"git-domarkx/agents", []string{"format", "gitstore/atomicfile"}, "agents live in terminals, not in Git"},
	{"git-domarkx/transcripts", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/engine/opencodedb"}, "where agents keep their files has nothing to do with Git"},
	{"git-domarkx/recording", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/engine/opencodedb", "git-domarkx/background", "git-domarkx/transcripts", "gitstore/atomicfile"}, "the watcher says when to import, and knows nothing of how"},
	{"git-domarkx/hooks", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/engine/opencodedb", "git-domarkx/transcripts", "gitstore/atomicfile"}, "settings of agents have nothing to do with Git"},
	{"git-domarkx/engine", []string{"format", "gitstore", "plugins/.", "plugins/dirversion", "plugins/gitignore", "fusefs/drafts", "plugins/sqlite/sqlite3"}, "the engine works on the store, and knows nothing of the mount but its drafts"},
	{"git-domarkx/mcpserver", []string{"git-domarkx/engine", "format", "gitstore", "plugins/.", "plugins/dirversion", "plugins/gitignore", "fusefs/drafts", "plugins/sqlite/sqlite3"}, "the server offers what the engine can do, and is no command"},
}

type arrow struct {
	directory string
	may       []string
	because   string
}

// owners lists the directories that alone may import a package from elsewhere directly.
var owners = []struct {
	library     string
	directories []string
}{
	{"os/exec", []string{"gitstore/gitcmd", "plugins", "fusefs/mountpoint", "git-domarkx/.", "git-domarkx/agents", "git-domarkx/background", "git-domarkx/mountd", "git-domarkx/recording", "git-domarkx/transcripts", "git-domarkx/engine/enginetest", "git-domarkx/engine/chat/provider/llamatest"}},
	{"github.com/go-git/go-git", []string{"gitstore"}},
	{"github.com/hanwen/go-fuse", []string{"fusefs"}},
	{"github.com/alecthomas/kong", []string{"git-domarkx/.", "git-domarkx/clidoc"}},
	{"go.yaml.in/yaml", []string{"format"}},
	{"github.com/anthropics/anthropic-sdk-go", []string{"git-domarkx/engine/chat/provider"}},
	{"github.com/openai/openai-go", []string{"git-domarkx/engine/chat/provider"}},
	{"github.com/fsnotify/fsnotify", []string{"git-domarkx/recording"}},
	{"github.com/BurntSushi/toml", []string{"git-domarkx/engine/project", "git-domarkx/engine/secrets", "git-domarkx/agents", "git-domarkx/hooks"}},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Error      *struct{ Err string }
}

// TestImportArrows checks that imports between the packages of the module only go in the
// allowed directions (DESIGN.md).
func TestImportArrows(t *testing.T) {
	packages := listPackages(t)
	for _, p := range packages {
		own := relative(p.ImportPath)
		for _, a := range arrows {
			if !inDirectory(own, a.directory) || slices.ContainsFunc(arrows, func(b arrow) bool {
				return b.directory != a.directory && inDirectory(b.directory, a.directory) && inDirectory(own, b.directory)
			}) {
				continue
			}
			for _, dep := range p.Deps {
				if !strings.HasPrefix(dep, module) {
					continue
				}
				other := relative(dep)
				if !inDirectory(other, a.directory) && !slices.ContainsFunc(a.may, func(f string) bool { return inDirectory(other, f) }) {
					t.Errorf("%s depends on %s: %s", own, other, a.because)
				}
			}
		}
		for _, o := range owners {
			for _, imp := range p.Imports {
				if (imp == o.library || strings.HasPrefix(imp, o.library+"/")) && !slices.ContainsFunc(o.directories, func(f string) bool { return inDirectory(own, f) }) {
					t.Errorf("%s imports %s, which is for %v alone", own, imp, o.directories)
				}
			}
		}
	}
}

// TestFormatsArePure checks that the model imports only the standard library, and that neither
// the model nor a format does input or output: what a document includes comes through
// format.Source.
func TestFormatsArePure(t *testing.T) {
	for _, p := range listPackages(t) {
		own := relative(p.ImportPath)
		if !inDirectory(own, "format") || own == "format/formattest" {
			continue
		}
		for _, imp := range p.Imports {
			if inDirectory(own, model) && strings.Contains(strings.Split(imp, "/")[0], ".") && !strings.HasPrefix(imp, module) {
				t.Errorf("%s imports %s, expected the standard library only", own, imp)
			}
			if slices.Contains([]string{"os", "net", "os/exec", "syscall"}, imp) {
				t.Errorf("%s imports %s, expected no input or output", own, imp)
			}
		}
	}
}

// inDirectory reports whether a package is in a directory or below it.
func inDirectory(pkg, directory string) bool {
	if directory == model {
		return slices.Contains(strings.Split(model, ", "), pkg)
	}
	if alone, ok := strings.CutSuffix(directory, "/."); ok {
		return pkg == alone
	}
	return pkg == directory || strings.HasPrefix(pkg, directory+"/")
}

func relative(path string) string {
	return strings.TrimPrefix(path, module+"/")
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Imports,Deps,Error", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("listing packages: %v\n%s", err, stderr.String())
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		t.Fatal("no packages listed")
	}
	return packages
}
