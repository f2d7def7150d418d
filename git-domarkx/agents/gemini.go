package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/gemini"
)

func geminiCLI() Agent {
	settings := inDirectory(geminiHome, ".gemini", "settings.json")
	return Agent{
		Name: gemini.Name, Program: "gemini", Install: "npm install -g @google/gemini-cli",
		Home: geminiHome, Files: []string{"tmp/*/chats/**/*.jsonl", "tmp/*/chats/**/*.json"}, Origin: rooted,
		Resume: Resume{Dir: geminiProject, Args: option("--resume"), Aside: true},
		Hooks: Hooks{
			Scopes: []Scope{User, Project}, Entry: nested(milliseconds), Files: settings, Variable: "GEMINI_PROJECT_DIR",
			Events: []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"},
		},
		Servers: serversIn(settings),
	}
}

func geminiHome(e Environment) string { return e.home(".gemini") }

// rooted returns the directory that Gemini CLI notes in a file beside the transcripts of a
// project.
func rooted(e Environment, _ []string, file string) (dir string, ok bool) {
	tmp := filepath.Join(geminiHome(e), "tmp")
	project, ok := firstBelow(tmp, file)
	if !ok {
		return "", false
	}
	data, err := ReadRegular(filepath.Join(tmp, project, ".project_root"), maxNote)
	dir = strings.TrimSpace(string(data))
	return dir, err == nil && filepath.IsAbs(dir)
}

// geminiProject returns Gemini CLI's directory for a project, whose name only the program
// knows.
func geminiProject(e Environment, workDir string) (string, error) {
	data, err := ReadRegular(filepath.Join(geminiHome(e), "projects.json"), maxNote)
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	name := known.Projects[workDir]
	if err != nil || name == "" || name != filepath.Base(name) {
		return "", fmt.Errorf("%w: gemini does not know the directory %q yet; start it there once", domarkx.ErrNotFound, workDir)
	}
	return filepath.Join(geminiHome(e), "tmp", name), nil
}
