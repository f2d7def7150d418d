package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
)

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
