package transcripts

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
)

// Model returns the model that the agent is to ask when it goes on with a new transcript, as it
// spells it. It is "" for agents that choose one themselves. OpenCode asks the one that the
// transcript names, so this is the one that it would choose itself: that of its configuration, or
// else the one that it used last. If there is none, the error matches domarkx.ErrNotFound.
func (a Agent) Model(ctx context.Context, e Environment, workDir string) (string, error) {
	if a.began != nil {
		return "", nil
	}
	for dir := workDir; ; dir = filepath.Dir(dir) {
		if model := configuredModel(dir); model != "" {
			return model, nil
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	config := e.home(".config", "opencode")
	if dir := e("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		config = filepath.Join(dir, "opencode")
	}
	if model := configuredModel(config); model != "" {
		return model, nil
	}
	if model := recentModel(e); model != "" {
		return model, nil
	}
	files, err := filepath.Glob(filepath.Join(a.dir(e), "opencode*.db"))
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
		data, err := readSmall(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		var config struct {
			Model string `json:"model"`
		}
		if json.Unmarshal(withoutComments(data), &config) == nil && strings.Contains(config.Model, "/") {
			return config.Model
		}
	}
	return ""
}

// recentModel returns the model that was chosen last in OpenCode; "" for none.
func recentModel(e Environment) string {
	state := e.home(".local", "state", "opencode")
	if dir := e("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		state = filepath.Join(dir, "opencode")
	}
	data, err := readSmall(filepath.Join(state, "model.json"))
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

// withoutComments returns JSON without the comments and the commas before a closing bracket that
// JSONC allows.
func withoutComments(data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			start := i
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			out = append(out, data[start:min(i+1, len(data))]...)
		case c == '/' && i+1 < len(data) && data[i+1] == '/':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(data) && data[i+1] == '*':
			for i += 2; i+1 < len(data) && (data[i] != '*' || data[i+1] != '/'); i++ {
			}
			i++
		case c == ']' || c == '}':
			for n := len(out) - 1; n >= 0 && strings.IndexByte(" \t\r\n,", out[n]) >= 0; n-- {
				if out[n] == ',' {
					out = out[:n]
					break
				}
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}
