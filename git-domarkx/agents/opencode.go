package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/gitstore/glob"
)

func openCode() Agent {
	return Agent{
		Name: opencode.Name, Program: "opencode", Install: "npm install -g opencode-ai",
		Home: openCodeData, Files: []string{"opencode.db", "opencode-*.db", "storage/session/*/ses_*.json"}, StatesStop: true,
		Resume: Resume{Import: []string{"import"}, Args: option("--session"), ID: opencode.SessionID, Model: openCodeModel},
		Hooks:  Hooks{More: map[string]Kind{"session.created": SessionStart, "session.idle": TurnStop}},
		Servers: func(s Scope, p Place) []Servers {
			files := []string{filepath.Join(openCodeConfig(p.Environ), "opencode.json")}
			if s == Project {
				files = p.inMain("opencode.json")
			}
			return serversAt(files, func(command []string) jsonvalue.Value {
				return transcript.Object("type", "local", "command", texts(command), "enabled", true)
			}, "mcp")
		},
	}
}

func openCodeData(e Environment) string {
	return filepath.Join(e.or("XDG_DATA_HOME", ".local", "share"), "opencode")
}

func openCodeConfig(e Environment) string {
	return filepath.Join(e.or("XDG_CONFIG_HOME", ".config"), "opencode")
}

// openCodeModel returns the model that OpenCode would choose itself, since it asks the one that a
// transcript names: that of its configuration, or else the one that it used last. If there is none, the
// error matches domarkx.ErrNotFound.
func openCodeModel(ctx context.Context, e Environment, workDir string) (string, error) {
	for dir := range Upward(workDir) {
		if model := configuredModel(dir); model != "" {
			return model, nil
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
	}
	if model := configuredModel(openCodeConfig(e)); model != "" {
		return model, nil
	}
	if model := recentModel(e); model != "" {
		return model, nil
	}
	files, err := glob.Below(openCodeData(e), "opencode*.db")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		model, err := readDatabase(ctx, file, (*opencodedb.DB).LastModel)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if model != "" {
			return model, nil
		}
	}
	return "", fmt.Errorf("%w: opencode has not used a model on this machine; start it once, choose one, and repeat this", domarkx.ErrNotFound)
}

// configuredModel returns the model in OpenCode's configuration in a directory; "" for none.
func configuredModel(dir string) string {
	for _, name := range []string{"opencode.jsonc", "opencode.json"} {
		data, err := ReadRegular(filepath.Join(dir, name), maxNote)
		if err == nil {
			data, err = hujson.Standardize(append(data, '\n')) // only a line end ends a comment
		}
		var config struct {
			Model string `json:"model"`
		}
		if err == nil && json.Unmarshal(data, &config) == nil && strings.Contains(config.Model, "/") {
			return config.Model
		}
	}
	return ""
}

// recentModel returns the model that was chosen last in OpenCode; "" for none.
func recentModel(e Environment) string {
	data, err := ReadRegular(filepath.Join(e.or("XDG_STATE_HOME", ".local", "state"), "opencode", "model.json"), maxNote)
	var known struct {
		Recent []struct {
			ProviderID string `json:"providerID"`
			ModelID    string `json:"modelID"`
		} `json:"recent"`
	}
	if err != nil || json.Unmarshal(data, &known) != nil || len(known.Recent) == 0 || known.Recent[0].ProviderID == "" {
		return ""
	}
	return known.Recent[0].ProviderID + "/" + known.Recent[0].ModelID
}

// readDatabase opens a database of OpenCode and reads something from it, again if the program
// writes it meanwhile.
func readDatabase[T any](ctx context.Context, path string, read func(*opencodedb.DB, context.Context) (T, error)) (result T, err error) {
	for range 3 {
		var db *opencodedb.DB
		if db, err = opencodedb.Open(path); err != nil {
			return result, err
		}
		result, err = read(db, ctx)
		if err = errors.Join(err, db.Close()); !errors.Is(err, opencode.ErrChanged) {
			break
		}
	}
	return result, err
}
