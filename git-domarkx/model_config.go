package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// findModel returns the definition of a model, or of the default one if name is "".
func (inv *invocation) findModel(name string) (models.Definition, error) {
	settings, err := inv.modelSettings()
	if err != nil {
		return models.Definition{}, err
	}
	if name == "" {
		if name, err = models.Default(settings); err != nil {
			return models.Definition{}, err
		}
	}
	return models.Find(settings, name)
}

func (inv *invocation) modelSettings() (*gitcmd.Config, error) {
	git, err := inv.gitAnywhere()
	if err != nil {
		return nil, err
	}
	return git.Config(inv.ctx)
}

// gitAnywhere is like git, but outside of a repository it reads the user's own configuration.
func (inv *invocation) gitAnywhere() (*gitcmd.Git, error) {
	git, err := inv.git()
	failed, ran := errors.AsType[*gitcmd.Error](err)
	if errors.Is(err, gitcmd.ErrNoRepository) || ran && failed.Code > 0 {
		return gitcmd.Anywhere(".", nil)
	}
	return git, err
}

// openModel returns a wire to a model, with the model's key. The wire repeats requests that
// fail for a moment. On a terminal, Git's credential helpers may ask the user for the key.
func (inv *invocation) openModel(d models.Definition) (provider.Client, error) {
	key, _, err := inv.modelKeys().Find(inv.ctx, d, isTerminal(inv.in) && isTerminal(inv.err))
	if err != nil {
		return provider.Client{}, err
	}
	if key.IsZero() && d.NeedsKey() {
		return provider.Client{}, fmt.Errorf("there is no key for %s: set the environment variable %s, or git config domarkx.model.%s.keyHelper COMMAND", d.URL.Host, d.KeyEnv, d.Name)
	}
	return provider.Client{Wire: models.Open(d, key)}, nil
}

// modelKeys returns the places in which keys are looked up.
func (inv *invocation) modelKeys() models.Keys {
	return models.Keys{
		Getenv: inv.getenv,
		Helper: inv.runKeyHelper,
		Credential: func(ctx context.Context, url string, ask bool) (string, error) {
			git, err := inv.gitAnywhere()
			if err != nil {
				return "", err
			}
			return git.Password(ctx, url, ask)
		},
	}
}

// maxKey is the maximum length of the output of a key helper, in bytes.
const maxKey = 64 << 10

// runKeyHelper runs a command of the user's configuration and returns its output. The command can ask the user on the terminal.
func (inv *invocation) runKeyHelper(ctx context.Context, command string) (string, error) {
	var out bytes.Buffer
	if err := inv.foreground(ctx, &out, "sh", "-c", command).Run(); err != nil {
		return "", err // which has neither the command nor its output
	}
	if out.Len() > maxKey {
		return "", fmt.Errorf("it printed %d bytes, expected a key", out.Len())
	}
	return out.String(), nil
}

// notice shows a message about a request to a model, unless --quiet is set.
func (inv *invocation) notice(text string) {
	inv.say("git-domarkx: %s", text)
}

// chatModel returns the model with that name, with everything that a chat needs. It sends no request.
func (inv *invocation) chatModel(name string) (chat.Model, models.Definition, error) {
	d, err := inv.findModel(name)
	if err != nil {
		return chat.Model{}, d, err
	}
	wire, err := inv.openModel(d)
	if err != nil {
		return chat.Model{}, d, err
	}
	settings, err := inv.modelSettings()
	if err != nil {
		return chat.Model{}, d, err
	}
	model := chat.Model{Wire: wire, Context: int64(d.Context), MaxTokens: d.MaxTokens, Reasoning: d.Reasoning}
	price, known, err := prices.New(settings).Of(d.Model, d.Name)
	if known {
		model.Price = &price
	}
	return model, d, err
}

// chooseModel returns the name of the model that answers in a session: the one that the user named, else the default. It uses a
// model that the session or the repository suggests only if the user agrees.
func (c *chatCmd) chooseModel(inv *invocation, opened managers, ask func(question string) (bool, error)) (string, error) {
	wishes, err := c.wishes(inv, opened)
	if err != nil {
		return "", err
	}
	if len(wishes.Ignored) > 0 {
		inv.warn(fmt.Errorf("warning: ignored, because only your own configuration says where models are and which keys they get: %s", visible(strings.Join(wishes.Ignored, ", "))))
	}
	if c.Model != "" {
		return c.Model, nil
	}
	settings, err := inv.modelSettings()
	if err != nil {
		return "", err
	}
	standard, missing := models.Default(settings)
	if wishes.Model == "" || wishes.Model == standard {
		return standard, missing
	}
	if ask != nil {
		yes, err := ask(fmt.Sprintf("%s suggests the model %s. Use it? [y/N] ", visible(c.Name), visible(wishes.Model)))
		if err != nil {
			return "", err
		}
		if yes {
			return wishes.Model, nil
		}
		return standard, missing
	}
	inv.warn(fmt.Errorf("warning: %s suggests the model %s, which is used only with --model", visible(c.Name), visible(wishes.Model)))
	return standard, missing
}

// wishes returns what the session and .domarkx.toml ask for in chats.
func (c *chatCmd) wishes(inv *invocation, opened managers) (chat.Wishes, error) {
	var w chat.Wishes
	tip, err := opened.store.Tip(inv.ctx, c.Name)
	switch {
	case err == nil:
		h, err := view.Header(inv.ctx, opened.store, tip.ID)
		if err != nil {
			return w, err
		}
		w = chat.WishesOf(h)
	case !errors.Is(err, domarkx.ErrNotFound):
		return w, err
	}
	shared, err := opened.trust.ProjectModels()
	if err != nil {
		return w, nil // the turn will report the error
	}
	file := domarkx.NewHeader()
	file.ExecutionConfig = shared
	return w.And(chat.WishesOf(file)), nil
}
