package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

type modelCmd struct {
	List modelListCmd `cmd:"" help:"List the configured models, and whether their keys are found."`
	Test modelTestCmd `cmd:"" help:"Make one small call to a model."`
}

type modelListCmd struct{ rowsOption[modelRow] }

type modelRow struct {
	Name     string `json:"name" head:"NAME" doc:"the name, as for chat --model"`
	Provider string `json:"provider" head:"PROVIDER" doc:"anthropic, openai, openai-chat or gemini"`
	URL      string `json:"url" head:"URL" doc:"where requests go"`
	Model    string `json:"model" head:"MODEL" doc:"the provider's name of the model"`
	Key      string `json:"key" head:"KEY" doc:"where the key was found: environment, helper, credential or none"`
	Default  bool   `json:"default" doc:"whether it is the default"`
	Usual    string `head:"DEFAULT"`
}

func (c *modelListCmd) Run(inv *invocation) error {
	settings, err := inv.modelSettings()
	if err != nil {
		return err
	}
	list, errs := models.List(settings)
	usual, _ := models.Default(settings) // having none is fine here
	rows := mapped(list, func(d models.Definition) modelRow {
		_, from, err := inv.modelKeys().Find(inv.ctx, d, false)
		errs = append(errs, err)
		row := modelRow{Name: d.Name, Provider: d.Provider, URL: d.URL.String(), Model: d.Model, Key: string(from), Default: d.Name == usual}
		if row.Default {
			row.Usual = "*"
		}
		return row
	})
	if err := c.print(inv, rows); err != nil {
		return err
	}
	if len(rows) == 0 && len(errs) == 0 {
		inv.notice("hint: no model is configured; git domarkx help model shows how")
	}
	return inv.bad(errs...)
}

type modelTestCmd struct {
	rowOption[modelTestRow]
	Name string `arg:"" optional:"" name:"NAME" help:"The model; the default one unless given."`
}

type modelTestRow struct {
	Name         string    `json:"name" head:"NAME" doc:"the name of the model"`
	Model        string    `json:"model" head:"MODEL" doc:"the model, as the provider reports it"`
	Milliseconds int       `json:"milliseconds" head:"MS" doc:"how long it took"`
	Text         textField `json:"text" head:"ANSWER" doc:"what it answered"`
	Usage        usageRow  `json:"usage" doc:"the tokens that it used"`
}

type usageRow struct {
	Input      int64 `json:"input" doc:"tokens of the request that were not cached"`
	CacheRead  int64 `json:"cache_read" doc:"tokens of the request that came from the cache"`
	CacheWrite int64 `json:"cache_write" doc:"tokens of the request that were put into the cache"`
	Output     int64 `json:"output" doc:"tokens of the answer, with reasoning"`
	Reasoning  int64 `json:"reasoning" doc:"tokens of reasoning"`
}

// testTokens is a maximum length of the answer that is enough for models that think before they answer.
const testTokens = 2048

func (c *modelTestCmd) Run(inv *invocation) error {
	d, err := inv.findModel(c.Name)
	if err != nil {
		return err
	}
	client, err := inv.openModel(d)
	if err != nil {
		return err
	}
	r := provider.Request{MaxTokens: testTokens, Reasoning: d.Reasoning,
		Messages: []provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text{Text: "Answer with the word: yes"}}}}}
	if d.MaxTokens > 0 {
		r.MaxTokens = min(r.MaxTokens, d.MaxTokens)
	}
	began := time.Now()
	answer, err := client.Stream(inv.ctx, r, func(e provider.Event) {
		if n, ok := e.(provider.Notice); ok {
			inv.notice(string(n))
		}
	})
	if err != nil {
		return fmt.Errorf("model %q: %w", d.Name, err)
	}
	var text strings.Builder
	for _, p := range answer.Parts {
		if t, ok := p.(provider.Text); ok {
			text.WriteString(t.Text)
		}
	}
	return c.print(inv, modelTestRow{Name: d.Name, Model: answer.Model, Milliseconds: int(time.Since(began).Milliseconds()),
		Text: textField(strings.TrimSpace(text.String())), Usage: usageRow(answer.Usage)})
}
