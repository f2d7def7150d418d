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

// These stand for several directories in the lists of arrows.
const (
	// model is the model with its parts.
	model = "format/domarkx, format/jsonvalue, format/syntax, format/wtf8"
	// below is what the engine is built on.
	below = "format, gitstore, plugins/., plugins/beneath, plugins/dirversion, plugins/gitignore, plugins/limit, plugins/permit, plugins/sparse, plugins/sqlite/sqlite3, fusefs/drafts, git-domarkx/agents/opencodedb"
	// files are the packages that write and find files, whatever is in them.
	files = "gitstore/atomicfile, gitstore/glob"
	// values are the packages of the engine that need no SessionManager.
	values = "git-domarkx/engine/edit, git-domarkx/engine/ignored, git-domarkx/engine/local, git-domarkx/engine/project, git-domarkx/engine/sources, git-domarkx/engine/toolcall, git-domarkx/engine/transaction, git-domarkx/engine/trust, git-domarkx/engine/view"
)

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
	{"gitstore/oid", []string{model}, "ids know nothing of what they name"},
	{"gitstore/refname", []string{model}, "names are checked without a repository"},
	{"gitstore/object", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/oid", "gitstore/derived", files}, "objects know nothing of what is made of them"},
	{"gitstore/fanout", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/oid", "gitstore/derived", "gitstore/object", files}, "numbered files are stored whatever is in them"},
	{"gitstore/original", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/oid", "gitstore/derived", "gitstore/object", "gitstore/fanout", files}, "originals are stored without knowing the snapshots that were made from them"},
	{"gitstore/snapshot", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/oid", "gitstore/derived", "gitstore/object", "gitstore/fanout", "gitstore/original", "gitstore/version", "gitstore/refname", "gitstore/refdb", "gitstore/gitcmd", files}, "what reads and writes objects does not move refs"},
	{"gitstore/codec", []string{model, "gitstore/odb", "gitstore/oid", "gitstore/derived", files}, "codecs do no input or output"},
	{"gitstore/purge", []string{model, "gitstore/codec", "gitstore/odb", "gitstore/oid", "gitstore/derived", "gitstore/gitcmd", files}, "objects are removed whatever is in them"},
	{"gitstore/version", []string{model, "gitstore/odb", "gitstore/oid", "gitstore/derived", files}, "sessions contain versions of resources, not the reverse"},
	{"gitstore/derived", []string{files}, "files that can be made again are kept whatever is in them"},
	{"gitstore/atomicfile", nil, "whoever writes files may use it, and it knows nothing of what is in them"},
	{"gitstore/glob", nil, "whoever looks for files may use it, and it knows nothing of what is in them"},
	{"fusefs", []string{model, files}, "the mount shows the model, and declares what it needs"},
	{"plugins", []string{model, "format/schema", "format/.", files, "gitstore/derived"}, "plugins know the model and JSON Schemas, not Git"},
	{"plugins/git_repository", []string{model, "format/schema", "format/.", "plugins", "gitstore/gitcmd", "gitstore/oid", "gitstore/derived", files}, "a repository is worked on by running git"},
	{"plugins/all", []string{"format", "plugins", "gitstore/gitcmd", "gitstore/oid", "gitstore/derived", files}, "the registry needs what the plugins need"},
	{"plugins/openpocket", []string{"format", "plugins", files, "gitstore/derived"}, "sessions of OpenPocket are written where they are read, so that the two agree"},
	{"git-domarkx/background", nil, "a program in the background is any program"},
	{"git-domarkx/engine", []string{below}, "the engine works on the store, and knows no wing"},
	{"git-domarkx/engine/.", []string{below, values}, "the SessionManager does not know what is done with it"},
	{"git-domarkx/engine/enginetest", []string{below, "git-domarkx/engine", "plugins/directory", "plugins/toolresult"}, "the notebooks of tests are directories"},
	{"git-domarkx/engine/edit", []string{below, "git-domarkx/engine/view", "git-domarkx/engine/toolcall"}, "documents become states without a repository's settings"},
	{"git-domarkx/engine/view", []string{below}, "snapshots become documents without a repository's settings"},
	{"plugins/permit", []string{model}, "permits are values"},
	{"git-domarkx/engine/toolcall", []string{"format", "gitstore/refname"}, "blocks of calls are values"},
	{"git-domarkx/engine/project", []string{"format"}, "a configuration file is a value"},
	{"git-domarkx/engine/ignored", []string{below}, "versions are read without a SessionManager"},
	{"git-domarkx/engine/local", []string{"format", "gitstore", "plugins/.", "plugins/beneath", "plugins/sparse", "plugins/limit", "plugins/permit"}, "records of a clone know nothing of who makes them"},
	{"git-domarkx/engine/sources", []string{"format", "gitstore"}, "records of a clone know nothing of who makes them"},
	{"git-domarkx/engine/trust", []string{below, "git-domarkx/engine/local", "git-domarkx/engine/project", "git-domarkx/engine/toolcall", "git-domarkx/engine/view"}, "what runs is decided before anything runs"},
	{"git-domarkx/engine/transaction", []string{below, "git-domarkx/engine/local", "git-domarkx/engine/project", "git-domarkx/engine/toolcall", "git-domarkx/engine/trust", "git-domarkx/engine/view"}, "what is added passes it, whoever adds it"},
	{"git-domarkx/engine/importer/document", []string{below, values, "git-domarkx/engine/."}, "documents are read without knowing what becomes of them"},
	{"git-domarkx/engine/importer/homes", []string{below, values, "git-domarkx/engine/."}, "the homes of a program are kept beside the sessions in them"},
	{"git-domarkx/engine/importer/edition", []string{below, values, "git-domarkx/engine/.", "git-domarkx/engine/importer/document"}, "editions are made without recording what was imported"},
	{"git-domarkx/engine/turns/journal", []string{below, values}, "what runs is noted without knowing how it runs"},
	{"git-domarkx/engine/turns/lock", []string{"format", "gitstore", "plugins/.", "plugins/beneath", "plugins/sparse", "plugins/limit", "plugins/permit", "git-domarkx/engine/local"}, "a turn is locked whatever is done in it"},
	{"git-domarkx/engine/turns/replay", []string{below, values, "git-domarkx/engine/."}, "a replay stores nothing, so it needs nothing of what runs calls for a session"},
	{"git-domarkx/events", []string{model}, "who made a version is a matter of the version"},
	{"git-domarkx/agents", []string{below, "git-domarkx/engine", "git-domarkx/events"}, "coding agents are watched from outside"},
	{"git-domarkx/agents/.", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/agents/opencodedb"}, "where agents keep their files, and how they notify, has nothing to do with Git"},
	{"git-domarkx/agents/recording", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/agents/.", "git-domarkx/agents/opencodedb", "git-domarkx/background", files}, "the watcher says when to import, and knows nothing of how"},
	{"git-domarkx/agents/hooks", []string{"format", "plugins/sqlite/sqlite3", "git-domarkx/agents/.", "git-domarkx/agents/opencodedb", files, "gitstore/refname"}, "settings of agents have nothing to do with Git"},
	{"git-domarkx/chat", []string{below, "git-domarkx/engine", "git-domarkx/find/usage/prices"}, "models answer in sessions"},
	{"git-domarkx/chat/provider", []string{model}, "requests to models know nothing of sessions that are stored"},
	{"git-domarkx/find", []string{below, "git-domarkx/engine", "git-domarkx/events"}, "what is found is read, not changed"},
	{"git-domarkx/find/review", []string{below, "git-domarkx/engine", "git-domarkx/find/blame", "git-domarkx/events", "git-domarkx/secrets"}, "a review is made to be shown to others, so it finds and masks secrets"},
	{"git-domarkx/find/search/content", []string{"format", "gitstore/refname", "git-domarkx/engine/toolcall"}, "what is searched of a message does not depend on the index"},
	{"git-domarkx/find/when", []string{model}, "dates are dates"},
	{"git-domarkx/find/usage", []string{"format", "gitstore/derived", "gitstore/oid", files}, "tokens are counted in messages, wherever they are"},
	{"git-domarkx/secrets", []string{below, "git-domarkx/engine"}, "secrets are found and replaced in what the engine stores"},
	{"git-domarkx/secrets/placeholder", []string{"format", files, "gitstore/derived", "gitstore/odb", "gitstore/oid", "git-domarkx/secrets/.", "git-domarkx/secrets/gitobjects"}, "secrets are replaced in texts, wherever these are stored"},
	{"git-domarkx/zeus", []string{"format", "git-domarkx/background", files}, "agents live in terminals, not in Git"},
	{"git-domarkx/mcpserver", []string{below, "git-domarkx/engine", "git-domarkx/events", "git-domarkx/chat", "git-domarkx/find"}, "the server offers what the wings can do, and is no command"},
	{"git-domarkx/mountd", []string{"format", "plugins", "fusefs", "gitstore", "git-domarkx/engine", "git-domarkx/background"}, "the mount is served without knowing the command line"},
	{"git-domarkx/web/folder", []string{files}, "files of pages are files, whatever the pages show"},
	{"git-domarkx/web", []string{below, "git-domarkx/engine", "git-domarkx/events", "git-domarkx/find", "git-domarkx/secrets"}, "pages show what the wings return"},
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
	{"os/exec", []string{"gitstore/gitcmd", "plugins/process", "plugins/postgres", "plugins/docker_sandbox/dockertest", "plugins/local_shell", "plugins/mcp", "plugins/openpocket", "plugins/plugintest", "fusefs/mountpoint", "git-domarkx/.", "git-domarkx/zeus", "git-domarkx/background", "git-domarkx/mountd", "git-domarkx/agents/.", "git-domarkx/agents/recording", "git-domarkx/engine/enginetest", "git-domarkx/chat/provider/llamatest"}},
	{"github.com/go-git/go-git", []string{"gitstore"}},
	{"github.com/hanwen/go-fuse", []string{"fusefs"}},
	{"github.com/alecthomas/kong", []string{"git-domarkx/.", "git-domarkx/clidoc"}},
	{"go.yaml.in/yaml", []string{"format"}},
	{"github.com/openai/openai-go", []string{"git-domarkx/chat/provider"}},
	{"github.com/fsnotify/fsnotify", []string{"git-domarkx/agents/recording"}},
	{"github.com/BurntSushi/toml", []string{"git-domarkx/engine/project", "git-domarkx/secrets", "git-domarkx/zeus", "git-domarkx/agents"}},
	{"github.com/tailscale/hujson", []string{"git-domarkx/agents"}},
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
	if all := strings.Split(directory, ", "); len(all) > 1 {
		return slices.ContainsFunc(all, func(d string) bool { return inDirectory(pkg, d) })
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
