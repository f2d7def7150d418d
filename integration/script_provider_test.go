package integration_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// providersKey is the key of the providers of a script, a map[string]*providertest.Server.
type providersKey struct{}

// scriptProvider implements "provider [NAME] FILE", which starts a strict provider of models that
// gives the replies in a JSON file, and defines the model NAME, "m" unless given, as the default
// of the user. The file's name says which provider it is, up to the first dot. It sets PROVIDER_URL,
// and GEMINI_URL for Gemini's wire of the same server.
// "provider requests|refused|items [NAME]" prints, a line each, the bodies of the requests so far,
// why requests were refused, or the items of the answers.
func scriptProvider(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: provider [NAME] FILE, or provider requests|refused|items [NAME]")
	}
	name := "m"
	all := ts.Value(providersKey{}).(map[string]*providertest.Server)
	switch args[0] {
	case "requests", "refused", "items":
		if len(args) == 2 {
			name = args[1]
		}
		if all[name] == nil {
			ts.Fatalf("there is no provider %s", name)
		}
		printProvider(ts, args[0], all[name])
		return
	}
	file := args[len(args)-1]
	if len(args) == 2 {
		name = args[0]
	}
	var replies []providertest.Reply
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &replies); err != nil {
		ts.Fatalf("%s: %v", file, err)
	}
	server := providertest.Start(replies...)
	all[name] = server
	ts.Defer(func() { ts.Check(server.End()) })
	kind, _, _ := strings.Cut(filepath.Base(file), ".")
	url := server.Base()
	if kind == "gemini" {
		url = server.Gemini()
	}
	config := filepath.Join(ts.Getenv("HOME"), "gitconfig")
	old, err := os.ReadFile(config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	text := fmt.Sprintf("[domarkx]\n\tmodel = %[1]s\n[domarkx \"model.%[1]s\"]\n\tprovider = %[2]s\n\turl = %[3]s\n\tkeyEnv = TEST_KEY\n\ttimeout = 30\n", name, kind, url)
	ts.Check(os.WriteFile(config, append(old, text...), 0o600))
	ts.Setenv("GIT_CONFIG_GLOBAL", config)
	ts.Setenv("TEST_KEY", providertest.Key)
	ts.Setenv("PROVIDER_URL", server.Base())
	ts.Setenv("GEMINI_URL", server.Gemini())
}

func printProvider(ts *testscript.TestScript, what string, s *providertest.Server) {
	var lines []string
	switch what {
	case "requests":
		for _, r := range s.Requests() {
			lines = append(lines, string(r.Body))
		}
	case "refused":
		lines = s.Refused()
	case "items":
		for _, item := range s.Items() {
			lines = append(lines, string(item))
		}
	}
	fmt.Fprint(ts.Stdout(), "") // so that no earlier output is left
	for _, line := range lines {
		fmt.Fprintln(ts.Stdout(), strings.ReplaceAll(line, "\n", " "))
	}
}
