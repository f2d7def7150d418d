package chat_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// settings is a configuration, with keys as Git lists them.
type settings map[string]string

func (s settings) Get(key string) (string, bool) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	v, ok := s[strings.ToLower(key[:first])+key[first:last]+strings.ToLower(key[last:])]
	return v, ok
}

func (s settings) Int(key string, fallback int64) (int64, error) {
	if v, ok := s.Get(key); ok {
		return strconv.ParseInt(v, 10, 64)
	}
	return fallback, nil
}

func (s settings) Subsections(string) []string {
	var names []string
	for key := range s {
		if last := strings.LastIndexByte(key, '.'); last > len("domarkx") {
			names = append(names, key[len("domarkx."):last])
		}
	}
	return names
}

func TestFind(t *testing.T) {
	tests := []struct {
		name string
		s    settings
		want string // provider, URL, model, variable, context, reasoning, timeout
	}{
		{"anthropic/claude-x", settings{}, "anthropic https://api.anthropic.com/v1 claude-x ANTHROPIC_API_KEY 200000  2m0s"},
		{"openai/gpt-x", settings{}, "openai https://api.openai.com/v1 gpt-x OPENAI_API_KEY 200000  2m0s"},
		{"gemini/gemini-x", settings{}, "gemini https://generativelanguage.googleapis.com/v1beta/openai gemini-x GEMINI_API_KEY 1000000  2m0s"},
		{"local", settings{"domarkx.model.local.provider": "openai-chat", "domarkx.model.local.url": "http://127.0.0.1:8080/v1", "domarkx.model.local.context": "4096",
			"domarkx.model.local.reasoning": "high", "domarkx.model.local.timeout": "5"}, "openai-chat http://127.0.0.1:8080/v1 local  4096 high 5s"},
		{"proxy.one", settings{"domarkx.model.proxy.one.provider": "anthropic", "domarkx.model.proxy.one.url": "https://proxy.example/v1", "domarkx.model.proxy.one.model": "claude-y",
			"domarkx.model.proxy.one.keyenv": "PROXY_KEY"}, "anthropic https://proxy.example/v1 claude-y PROXY_KEY 0  2m0s"},
		{"anthropic/claude-x", settings{"domarkx.model.anthropic/claude-x.reasoning": "low"}, "anthropic https://api.anthropic.com/v1 claude-x ANTHROPIC_API_KEY 200000 low 2m0s"},
	}
	for _, test := range tests {
		d, err := models.Find(test.s, test.name)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := strings.Join([]string{d.Provider, d.URL.String(), d.Model, d.KeyEnv, strconv.Itoa(d.Context), string(d.Reasoning), d.Timeout.String()}, " ")
		if got != test.want {
			t.Errorf("%s: got %s, expected %s", test.name, got, test.want)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	define := func(key, value string) settings {
		return settings{"domarkx.model.m.provider": "openai", "domarkx.model.m." + key: value}
	}
	tests := []struct {
		name, model string
		s           settings
		want        error
	}{
		{"unknown name", "m", settings{}, domarkx.ErrNotFound},
		{"a vendor without a model", "openai/", settings{}, domarkx.ErrNotFound},
		{"unknown provider", "m", define("provider", "skynet"), domarkx.ErrInvalid},
		{"plain http elsewhere", "m", define("url", "http://example.com/v1"), domarkx.ErrInvalid},
		{"a key in the URL", "m", define("url", "https://sk-1:x@example.com/v1"), domarkx.ErrInvalid},
		{"a key as variable", "m", define("keyenv", "sk-ant-123"), domarkx.ErrInvalid},
		{"reasoning", "m", define("reasoning", "extreme"), domarkx.ErrInvalid},
		{"timeout", "m", define("timeout", "0"), domarkx.ErrInvalid},
		{"tokens", "m", define("maxtokens", "-1"), domarkx.ErrInvalid},
	}
	for _, test := range tests {
		_, err := models.Find(test.s, test.model)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, expected %v", test.name, err, test.want)
		}
		if err != nil && strings.Contains(err.Error(), "sk-") {
			t.Errorf("%s: the error shows a key: %v", test.name, err)
		}
	}
}

func TestDefault(t *testing.T) {
	if name, err := models.Default(settings{"domarkx.model": "openai/x"}); name != "openai/x" || err != nil {
		t.Errorf("got %q, %v", name, err)
	}
	if _, err := models.Default(settings{}); !errors.Is(err, models.ErrNoModel) {
		t.Errorf("error %v, expected %v", err, models.ErrNoModel)
	}
}

func TestList(t *testing.T) {
	list, errs := models.List(settings{"domarkx.model": "openai/x", "domarkx.model.b.provider": "openai", "domarkx.model.a.provider": "gemini", "domarkx.model.bad.provider": "x", "domarkx.talk.workspace": "w"})
	var names []string
	for _, d := range list {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "a b openai/x" || len(errs) != 1 {
		t.Errorf("got %s and %v", got, errs)
	}
}

func TestKeyOrder(t *testing.T) {
	define := settings{"domarkx.model.m.provider": "openai", "domarkx.model.m.keyenv": "M_KEY", "domarkx.model.m.keyhelper": "helper",
		"domarkx.model.m.url": "https://example.com/v1"}
	d, err := models.Find(define, "m")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, env, helper, credential string
		want                          models.KeyOrigin
		secret                        string
	}{
		{"all", "e", "h\n", "c", models.KeyFromEnv, "e"},
		{"no variable", "", "h\n", "c", models.KeyFromHelper, "h"},
		{"only credentials", "", "", "c", models.KeyFromGitCred, "c"},
		{"none", "", "", "", models.NoKey, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			keys := models.Keys{
				Getenv: func(name string) string {
					if name != "M_KEY" {
						t.Errorf("asked for the variable %s", name)
					}
					return test.env
				},
				Helper: func(_ context.Context, command string) (string, error) { return test.helper, nil },
				Credential: func(_ context.Context, url string, ask bool) (string, error) {
					if url != "https://example.com/v1" || !ask {
						t.Errorf("asked for %s, %v", url, ask)
					}
					return test.credential, nil
				},
			}
			key, from, err := keys.Find(t.Context(), d, true)
			if err != nil || from != test.want || key.Secret() != test.secret {
				t.Errorf("got %q from %s, error %v", key.Secret(), from, err)
			}
		})
	}
}

func TestKeyIsChecked(t *testing.T) {
	d, err := models.Find(settings{}, "openai/x")
	if err != nil {
		t.Fatal(err)
	}
	keys := models.Keys{Getenv: func(string) string { return "secret\nX-Header: 1" }}
	if _, _, err := keys.Find(t.Context(), d, false); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v, expected one that does not show the key", err)
	}
}

func TestNobodyIsAskedForThisMachine(t *testing.T) {
	d, err := models.Find(settings{"domarkx.model.m.provider": "openai", "domarkx.model.m.url": "http://localhost:1/v1"}, "m")
	if err != nil {
		t.Fatal(err)
	}
	keys := models.Keys{Getenv: func(string) string { return "" }, Credential: func(_ context.Context, _ string, ask bool) (string, error) {
		if ask {
			t.Error("the user would be asked")
		}
		return "", nil
	}}
	if _, from, err := keys.Find(t.Context(), d, true); from != models.NoKey || err != nil {
		t.Errorf("key from %s, error %v", from, err)
	}
}

func TestOpen(t *testing.T) {
	for _, name := range []string{"anthropic", "openai", "openai-chat", "gemini"} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, providertest.Reply{Text: "Hello."})
			url := s.Base()
			if name == "gemini" {
				url = s.Gemini()
			}
			d, err := models.Find(settings{"domarkx.model.m.provider": name, "domarkx.model.m.url": url, "domarkx.model.m.timeout": "5"}, "m")
			if err != nil {
				t.Fatal(err)
			}
			wire := models.Open(d, provider.NewKey(providertest.Key))
			if wire.Origin() != d.Origin() || d.Timeout != 5*time.Second {
				t.Errorf("origin %v, expected %v", wire.Origin(), d.Origin())
			}
			got, err := wire.Stream(t.Context(), provider.Request{}, func(provider.Event) {})
			if err != nil || len(got.Parts) != 1 {
				t.Errorf("answer %v, error %v", got, err)
			}
		})
	}
}
