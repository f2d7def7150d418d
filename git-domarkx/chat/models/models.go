// Package models finds the definitions of language models in the user's Git configuration, finds
// their keys, and opens wires to them.
//
// A definition is domarkx.model.NAME.{provider,url,model,keyEnv,keyHelper,context,maxTokens,
// reasoning,timeout}; domarkx.model names the default. "anthropic/MODEL", "openai/MODEL" and
// "gemini/MODEL" need no definition.
package models

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/anthropic"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/openai"
)

// Settings provides the user's Git configuration.
type Settings interface {
	Get(key string) (value string, ok bool)
	Int(key string, fallback int64) (int64, error)
	Subsections(section string) []string
}

// ErrNoModel means that no model was named and the configuration has no default.
var ErrNoModel = errors.New("no model is chosen; use --model NAME, or set one: git config domarkx.model anthropic/MODEL")

// A Definition describes how to reach a model.
type Definition struct {
	Name      string
	Provider  string // "anthropic", "openai", "openai-chat" or "gemini"
	URL       *url.URL
	Model     string // the provider's name of the model
	KeyEnv    string // environment variable with the key; "" for none
	KeyHelper string // command that prints the key; "" for none
	Context   int    // size of the context window in tokens; 0 if unknown
	MaxTokens int    // maximum length of an answer in tokens; 0 for the wire's default
	Reasoning provider.Reasoning
	Timeout   time.Duration // maximum time without a received byte
}

// Origin returns the origin of the model's answers.
func (d Definition) Origin() provider.Origin {
	return provider.Origin{Provider: d.Provider, Host: d.URL.Host, Model: d.Model}
}

// NeedsKey reports whether the model is at a provider that answers nobody without a key. Servers elsewhere may need none.
func (d Definition) NeedsKey() bool {
	return d.KeyEnv != "" && slices.ContainsFunc(vendors(), func(v vendor) bool { return v.url == d.URL.String() })
}

// A vendor is a provider that needs no configuration.
type vendor struct {
	name, url, keyEnv string
	context           int
	builtIn           bool // whether NAME/MODEL needs no definition
}

// vendors returns the known providers. A context window is set if all current models of the
// provider share it.
func vendors() []vendor {
	return []vendor{
		{"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", 200_000, true},
		{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", 200_000, true},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY", 1_000_000, true},
		{"openai-chat", "https://api.openai.com/v1", "OPENAI_API_KEY", 0, false},
	}
}

const (
	section        = "model."
	defaultTimeout = 120 // seconds
	maxTimeout     = 24 * 60 * 60
)

// Default returns the name of the default model, or ErrNoModel.
func Default(s Settings) (string, error) {
	if name, ok := s.Get("domarkx.model"); ok && name != "" {
		return name, nil
	}
	return "", ErrNoModel
}

// Find returns the definition of a model. The error matches [domarkx.ErrNotFound] if there is
// none, and [domarkx.ErrInvalid] if a setting is not valid.
func Find(s Settings, name string) (Definition, error) {
	d := Definition{Name: name}
	defined := slices.Contains(s.Subsections("domarkx"), section+name)
	vendorName, model, ok := strings.Cut(name, "/")
	i := slices.IndexFunc(vendors(), func(v vendor) bool { return v.builtIn && ok && model != "" && v.name == vendorName })
	switch {
	case i >= 0:
		d.Provider, d.Model = vendorName, model
	case defined:
		d.Model = name
	default:
		return d, fmt.Errorf("model %q: %w; define it with git config domarkx.model.%s.provider and .url, or use anthropic/MODEL, openai/MODEL or gemini/MODEL", name, domarkx.ErrNotFound, name)
	}
	if err := d.configure(s); err != nil {
		return d, fmt.Errorf("model %q: %w", name, err)
	}
	return d, nil
}

// List returns the definitions in the configuration and the default model, sorted by name. errs
// holds an error for each invalid definition.
func List(s Settings) (list []Definition, errs []error) {
	var names []string
	for _, sub := range s.Subsections("domarkx") {
		if name, ok := strings.CutPrefix(sub, section); ok {
			names = append(names, name)
		}
	}
	if name, err := Default(s); err == nil {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d, err := Find(s, name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, d)
	}
	return list, errs
}

// isVariableName reports whether a text can be the name of an environment variable.
func isVariableName(s string) bool {
	return provider.IsName(s, len(s)) && !strings.Contains(s, "-") && (s[0] < '0' || s[0] > '9')
}

func (d *Definition) configure(s Settings) error {
	key := func(name string) string { return "domarkx." + section + d.Name + "." + name }
	text := func(name string, into *string) {
		if v, ok := s.Get(key(name)); ok && v != "" {
			*into = v
		}
	}
	text("provider", &d.Provider)
	i := slices.IndexFunc(vendors(), func(v vendor) bool { return v.name == d.Provider })
	if i < 0 {
		return fmt.Errorf("provider %q: %w, expected anthropic, openai, openai-chat or gemini", d.Provider, domarkx.ErrInvalid)
	}
	v := vendors()[i]
	address, reasoning := v.url, ""
	text("url", &address)
	text("model", &d.Model)
	text("reasoning", &reasoning)
	var err error
	if d.URL, err = provider.CheckURL(address); err != nil {
		return fmt.Errorf("%w: %w", domarkx.ErrInvalid, err)
	}
	context := int64(0)
	if address == v.url { // the provider's own variable and window only apply to its own servers
		d.KeyEnv, context = v.keyEnv, int64(v.context)
	}
	text("keyEnv", &d.KeyEnv)
	text("keyHelper", &d.KeyHelper)
	if d.KeyEnv != "" && !isVariableName(d.KeyEnv) {
		return fmt.Errorf("keyEnv: %w, expected the name of an environment variable; a key does not belong into the configuration", domarkx.ErrInvalid)
	}
	switch d.Reasoning = provider.Reasoning(reasoning); d.Reasoning {
	case "", provider.ReasoningOff, provider.ReasoningLow, provider.ReasoningMedium, provider.ReasoningHigh:
	default:
		return fmt.Errorf("reasoning %q: %w, expected off, low, medium or high", reasoning, domarkx.ErrInvalid)
	}
	number := func(name string, fallback, most int64) (int, error) {
		n, err := s.Int(key(name), fallback)
		if err == nil && (n < 0 || n > most) {
			err = fmt.Errorf("%s %d: %w, expected at most %d", name, n, domarkx.ErrInvalid, most)
		}
		return int(n), err
	}
	const mostTokens = 1 << 30
	if d.Context, err = number("context", context, mostTokens); err != nil {
		return err
	}
	if d.MaxTokens, err = number("maxTokens", 0, mostTokens); err != nil {
		return err
	}
	seconds, err := number("timeout", defaultTimeout, maxTimeout)
	if err == nil && seconds == 0 {
		err = fmt.Errorf("timeout 0: %w, expected seconds", domarkx.ErrInvalid)
	}
	d.Timeout = time.Duration(seconds) * time.Second
	return err
}

// Open returns a wire to a model. It sends the key only to the definition's URL.
func Open(d Definition, key provider.Key) provider.Wire {
	switch d.Provider {
	case "anthropic":
		return anthropic.New(d.URL, d.Model, key, d.Timeout)
	case "openai":
		return openai.NewResponses(d.URL, d.Model, key, d.Timeout)
	}
	return openai.NewChat(d.Provider, d.URL, d.Model, key, d.Timeout)
}
