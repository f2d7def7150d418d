package chat

import (
	"strconv"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// usageValue returns the tokens of an answer as message_metadata holds them.
func usageValue(u provider.Usage) domarkx.Value {
	number := func(name string, n int64) domarkx.Member {
		return domarkx.Member{Name: name, Value: domarkx.NumberValue(strconv.FormatInt(n, 10))}
	}
	return domarkx.ObjectValue(number("input", u.Input), number("cache_read", u.CacheRead), number("cache_write", u.CacheWrite),
		number("output", u.Output), number("reasoning", u.Reasoning))
}

// readUsage reads the tokens of an answer, or returns nil if there are none.
func readUsage(v domarkx.Value) *provider.Usage {
	if v.Kind() != domarkx.Object {
		return nil
	}
	var u provider.Usage
	for name, n := range map[string]*int64{"input": &u.Input, "cache_read": &u.CacheRead, "cache_write": &u.CacheWrite, "output": &u.Output, "reasoning": &u.Reasoning} {
		member, _ := v.Get(name)
		count, err := strconv.ParseInt(member.Text(), 10, 64)
		if err == nil && count >= 0 && count < 1<<50 {
			*n = count
		}
	}
	if u.Context() == 0 {
		return nil
	}
	return &u
}
