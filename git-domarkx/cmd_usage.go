package main

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/find/usage"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
)

type usageCmd struct {
	rowsOption[usageSumRow]
	By    string   `enum:"session,agent,model,day,branch" default:"session" placeholder:"KEY" help:"Add up by session (the default), agent, model, day or branch."`
	Since string   `placeholder:"DATE" help:"Count only responses since a date, or since so long ago: 2026-11-01, 2w."`
	Until string   `placeholder:"DATE" help:"Count only responses until the end of a date."`
	Names []string `arg:"" optional:"" name:"NAME" help:"Count only in these sessions: as in list, a name, a glob, or a name with all below it."`

	since, until time.Time
}

type usageSumRow struct {
	Key        string    `json:"key" head:"KEY" show:"name" doc:"the session, agent, model, day or branch; - if it is not recorded"`
	Responses  int       `json:"responses" head:"RESPONSES" doc:"how many responses of models"`
	Input      int64     `json:"input" head:"INPUT" doc:"tokens of input that were not cached"`
	CacheRead  int64     `json:"cache_read" head:"CACHE READ" doc:"tokens of input that came from the provider's cache"`
	CacheWrite int64     `json:"cache_write" head:"CACHE WRITE" doc:"tokens of input that the provider's cache kept"`
	Output     int64     `json:"output" head:"OUTPUT" doc:"tokens of output, with reasoning"`
	Cost       costField `json:"cost" head:"COST" doc:"USD, for the responses whose price is known; null if no price is known"`
	Unpriced   int       `json:"unpriced" doc:"how many of the responses have no known price"`
	PricesDate string    `json:"prices_date" doc:"the day of the table of prices, YYYY-MM-DD"`
}

func (c *usageCmd) prepare(*invocation) (err error) {
	c.since, c.until, err = period(c.Since, c.Until)
	return err
}

func (c *usageCmd) Run(inv *invocation, opened managers) error {
	opened.store.BoundMemory(packMemory)
	all, unlisted := opened.sessions.List(inv.ctx)
	if all == nil && unlisted != nil {
		return unlisted
	}
	selected, err := inv.selected(all, c.Names)
	if err != nil {
		return err
	}
	settings, err := inv.modelSettings()
	if err != nil {
		return err
	}
	reader := usage.Reader{Store: opened.store, Agent: opened.sessions.Agent, Dir: opened.store.StateDir()}
	responses, unread := reader.Responses(inv.ctx, selected, all)
	if err := inv.ctx.Err(); err != nil {
		return err
	}
	sums, unpriced, err := usage.Total(usage.Between(responses, c.since, c.until), usage.Key(c.By), prices.New(settings))
	if err != nil {
		return err
	}
	if err := errors.Join(c.print(inv, c.sumRows(inv, sums)), inv.out.Flush()); err != nil { // what follows is about the table
		return err
	}
	if inv.out.tty && !c.JSON && len(sums) > 0 {
		inv.notice("prices of " + prices.Date() + ", from models.dev")
	}
	if len(unpriced) > 0 {
		inv.notice(visibleLine(unpricedNotice(unpriced)))
	}
	return inv.bad(unlisted, unread)
}

// unpricedNotice says which models have no price. A response without a model is "-" among them, for which none can be set.
func unpricedNotice(models []string) string {
	const unnamed = "responses that name no model"
	named := slices.DeleteFunc(slices.Clone(models), func(model string) bool { return model == "-" })
	switch {
	case len(named) == 0:
		return "no price is known for " + unnamed
	case len(named) < len(models):
		models = append(named, unnamed)
	}
	return "no price is known for " + strings.Join(models, ", ") + "; set domarkx.price.MODEL.input and .output (USD for a million tokens)"
}

// sumRows returns the rows of sums, on a terminal with their total.
func (c *usageCmd) sumRows(inv *invocation, sums []usage.Sum) []usageSumRow {
	rows := make([]usageSumRow, 0, len(sums)+1)
	var total usage.Sum
	add := func(s usage.Sum) {
		rows = append(rows, usageSumRow{Key: s.Key, Responses: s.Responses, Input: s.Input, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite, Output: s.Output,
			Cost: costField{s.Cost, s.Priced > 0}, Unpriced: s.Responses - s.Priced, PricesDate: prices.Date()})
	}
	for _, s := range sums {
		add(s)
		total.Responses += s.Responses
		total.Input += s.Input
		total.CacheRead += s.CacheRead
		total.CacheWrite += s.CacheWrite
		total.Output += s.Output
		total.Cost += s.Cost
		total.Priced += s.Priced
	}
	if inv.out.tty && !c.JSON && len(sums) > 1 {
		total.Key = "total"
		add(total)
	}
	return rows
}

// costs returns a function for pages that returns the cost of a response in USD, and whether it is known. The first call reads
// the prices. If the configuration cannot be read, no price is known.
func (inv *invocation) costs() func(model string, u html.Usage) (float64, bool) {
	list := sync.OnceValue(func() *prices.List {
		settings, err := inv.modelSettings()
		if err != nil {
			return prices.New(nil)
		}
		return prices.New(settings)
	})
	return func(model string, u html.Usage) (float64, bool) {
		p, ok, err := list().Of(model)
		return p.Cost(prices.Tokens(u)), ok && err == nil
	}
}
