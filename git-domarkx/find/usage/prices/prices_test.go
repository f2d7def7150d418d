package prices_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
)

type config map[string]string

func (c config) Get(key string) (string, bool) {
	v, ok := c[key]
	return v, ok
}

func TestTable(t *testing.T) {
	if _, err := time.Parse(time.DateOnly, prices.Date()); err != nil {
		t.Errorf("date of the table: %v", err)
	}
	sonnet := prices.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	tests := map[string]prices.Rates{
		"claude-sonnet-4-5":                            sonnet,
		"claude-sonnet-4-5-20250929":                   sonnet,
		"Claude-Sonnet-4-5":                            sonnet,
		"anthropic/claude-sonnet-4-5":                  sonnet,
		"claude-sonnet-4-5@20250929":                   sonnet,
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": sonnet,
		"claude-sonnet-4-6-20991231":                   sonnet,                                                     // a later release
		"gpt-5.4":                                      {Input: 2.5, Output: 15, CacheRead: 0.25, CacheWrite: 2.5}, // which has no price of cache writes
		"gpt-5.4-2026-03-05":                           {Input: 2.5, Output: 15, CacheRead: 0.25, CacheWrite: 2.5},
		"gpt-5-pro":                                    {Input: 15, Output: 120, CacheRead: 15, CacheWrite: 15},
	}
	list := prices.New(nil)
	for model, want := range tests {
		if p, ok, err := list.Of(model); err != nil || !ok || p.Rates != want {
			t.Errorf("%s: %+v, %v, %v, want %+v", model, p, ok, err, want)
		}
	}
	for _, model := range []string{"", "/", "claude", "sonnet", "<synthetic>", "claude-sonnet-4-5-2025092", "claude-sonnet-4-5-99999999", "gpt-5.4\t2.5", "# models.dev", "local/model:free", strings.Repeat("x", 1<<16)} {
		if p, ok, err := list.Of(model); ok || err != nil {
			t.Errorf("%.40q has the price %+v, %v", model, p, err)
		}
	}
}

func TestCost(t *testing.T) {
	list := prices.New(nil)
	p, _, _ := list.Of("gpt-5.4")
	tests := map[string]struct {
		tokens prices.Tokens
		want   float64
	}{
		"nothing": {prices.Tokens{}, 0},
		"all":     {prices.Tokens{Input: 1e5, CacheRead: 1e5, Output: 1e5}, 0.25 + 0.025 + 1.5},
		"at most": {prices.Tokens{Input: 72_000, CacheRead: 200_000}, 0.18 + 0.05},
		"above":   {prices.Tokens{Input: 72_001, CacheRead: 200_000, Output: 1e6}, 0.360005 + 0.1 + 22.5},
	}
	for name, test := range tests {
		if got := p.Cost(test.tokens); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestConfiguration(t *testing.T) {
	const set = "domarkx.price."
	tests := map[string]struct {
		config  config
		model   string
		aliases []string
		want    prices.Rates
		unknown bool
	}{
		"overrides one":    {config{set + "claude-opus-4-6.output": "1"}, "claude-opus-4-6", nil, prices.Rates{Input: 5, Output: 1, CacheRead: 0.5, CacheWrite: 6.25}, false},
		"free of charge":   {config{set + "m.input": "0", set + "m.output": "0"}, "m", nil, prices.Rates{}, false},
		"cache like input": {config{set + "m.input": "2", set + "m.output": "3", set + "m.cacheRead": "1"}, "m", nil, prices.Rates{Input: 2, Output: 3, CacheRead: 1, CacheWrite: 2}, false},
		"by its alias":     {config{set + "mine.input": "2", set + "mine.output": "3", set + "m.input": "9", set + "m.output": "9"}, "m", []string{"mine"}, prices.Rates{Input: 2, Output: 3, CacheRead: 2, CacheWrite: 2}, false},
		"not the table's":  {nil, "my-own", []string{"gpt-5.4"}, prices.Rates{}, true},
		"only half":        {config{set + "m.input": "2"}, "m", nil, prices.Rates{}, true},
		"another model":    {config{set + "n.input": "2", set + "n.output": "2"}, "m", nil, prices.Rates{}, true},
	}
	for name, test := range tests {
		p, ok, err := prices.New(test.config).Of(test.model, test.aliases...)
		if err != nil || ok == test.unknown || p.Rates != test.want {
			t.Errorf("%s: %+v, %v, %v", name, p, ok, err)
		}
	}
	for _, bad := range []string{"", "x", "-1", "NaN", "Inf", "1e10"} {
		if _, _, err := prices.New(config{set + "m.input": bad}).Of("m"); err == nil || !strings.Contains(err.Error(), set+"m.input") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	// A price that is set holds for requests of any size.
	p, _, _ := prices.New(config{set + "gpt-5.4.input": "1"}).Of("gpt-5.4")
	if got := p.Cost(prices.Tokens{Input: 1e6}); got != 1 {
		t.Errorf("a million tokens cost %v, want 1", got)
	}
}
