package main

import "github.com/domarkx/domarkx/git-domarkx/chat/models"

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
	rows := rowsOf(list, func(d models.Definition) modelRow {
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
