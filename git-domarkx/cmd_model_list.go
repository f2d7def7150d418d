package main

import (
	"errors"

	"github.com/domarkx/domarkx/git-domarkx/chat/models"
)

type modelListCmd struct{ jsonOption }

func (modelListCmd) row() any { return []modelRow{} }

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
	rows := make([]modelRow, len(list))
	for i, d := range list {
		_, from, err := inv.modelKeys().Find(inv.ctx, d, false)
		if err != nil {
			errs = append(errs, err)
		}
		rows[i] = modelRow{Name: d.Name, Provider: d.Provider, URL: d.URL.String(), Model: d.Model, Key: string(from), Default: d.Name == usual}
		if rows[i].Default {
			rows[i].Usual = "*"
		}
	}
	if err := printResults(inv, c.JSON, rows); err != nil {
		return err
	}
	if len(rows) == 0 && len(errs) == 0 && !inv.opts.Quiet {
		printError(inv.err, errors.New("hint: no model is configured; git domarkx help model shows how"))
	}
	if len(errs) == 0 {
		return nil
	}
	return badInput(inv, errs)
}
