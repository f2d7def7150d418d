// Package usage counts the tokens that responses of models used, as their providers reported them,
// and their cost.
package usage

import (
	"cmp"
	"slices"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
)

// A Response is one answer of a model.
type Response struct {
	Session string  // session with the response; of several, the first one by name
	Agent   string  // agent that wrote the transcript; "chat" for git-domarkx itself; "" if unknown
	Model   string  // name as reported by the provider; "" if it reported none
	Branch  string  // Git branch of the work tree; "" if the agent did not record it
	Date    int64   // Unix seconds
	Cost    float64 // USD; 0 if it was not recorded
	prices.Tokens
}

// A Key is a property by which responses are grouped.
type Key string

// The properties by which responses can be grouped.
const (
	BySession Key = "session"
	ByAgent   Key = "agent"
	ByModel   Key = "model"
	ByDay     Key = "day" // in the local time zone
	ByBranch  Key = "branch"
)

// Unknown is the group of responses that lack the property.
const Unknown = "-"

// A Sum is the usage of the responses in one group.
type Sum struct {
	Key       string
	Responses int
	prices.Tokens
	Cost   float64 // USD, for the responses whose price is known
	Priced int     // number of responses whose price is known
}

// Total groups responses by a key and adds up their usage, sorted by key. unpriced are the models
// whose price is unknown, sorted.
func Total(responses []Response, by Key, list *prices.List) (sums []Sum, unpriced []string, err error) {
	known := map[string]*prices.Price{}
	at := map[string]int{}
	for i := range responses {
		r := &responses[i]
		name := r.group(by)
		n, ok := at[name]
		if !ok {
			n = len(sums)
			at[name] = n
			sums = append(sums, Sum{Key: name})
		}
		s := &sums[n]
		s.Responses++
		s.Input += r.Input
		s.CacheRead += r.CacheRead
		s.CacheWrite += r.CacheWrite
		s.Output += r.Output
		cost, priced := r.Cost, true
		if cost == 0 {
			price, asked := known[r.Model]
			if !asked {
				p, found, err := list.Of(r.Model)
				if err != nil {
					return nil, nil, err
				}
				if found && r.Model != "" {
					price = &p
				} else {
					unpriced = append(unpriced, cmp.Or(r.Model, Unknown))
				}
				known[r.Model] = price
			}
			if priced = price != nil; priced {
				cost = price.Cost(r.Tokens)
			}
		}
		if priced {
			s.Cost += cost
			s.Priced++
		}
	}
	slices.SortFunc(sums, func(a, b Sum) int { return cmp.Compare(a.Key, b.Key) })
	slices.Sort(unpriced)
	return sums, unpriced, nil
}

func (r *Response) group(by Key) string {
	switch by {
	case ByAgent:
		return cmp.Or(r.Agent, Unknown)
	case ByModel:
		return cmp.Or(r.Model, Unknown)
	case ByDay:
		return time.Unix(r.Date, 0).Format(time.DateOnly)
	case ByBranch:
		return cmp.Or(r.Branch, Unknown)
	default:
		return r.Session
	}
}

// Between returns the responses from since to before until. A zero time stands for no limit.
func Between(responses []Response, since, until time.Time) []Response {
	return slices.DeleteFunc(slices.Clone(responses), func(r Response) bool {
		return !since.IsZero() && r.Date < since.Unix() || !until.IsZero() && r.Date >= until.Unix()
	})
}
