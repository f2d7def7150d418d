package main

import (
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

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

// testTokens is a maximum length of the answer that is enough for models that think before
// they answer.
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
		return inModel(d.Name, err)
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
