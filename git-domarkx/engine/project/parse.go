package project

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

const bom = "\ufeff"

// maxDepth limits the nesting of values in the file.
const maxDepth = 50

// The keys in .domarkx.toml.
const (
	resourcesKey = "resources"
	pluginsKey   = "plugins"
	modelKey     = "model"
	modelsKey    = "models"
)

// Parse parses the content of the file. It does not check resource types and their configs.
func Parse(data []byte) (Config, error) {
	data = bytes.TrimPrefix(data, []byte(bom))
	if len(data) > maxSize {
		return Config{}, errorAt(nil, 0, fmt.Sprintf("is larger than %d bytes", maxSize), domarkx.ErrInvalid)
	}
	if bad := bytes.IndexByte(bytes.ToValidUTF8(data, []byte{0xff}), 0xff); bad >= 0 { // no UTF-8 has this byte
		return Config{}, errorAt(data, bad, "is not UTF-8, as TOML has to be", domarkx.ErrInvalid)
	}
	all := tokens(string(data))
	if offset, deep := tooDeep(all); deep {
		return Config{}, errorAt(data, offset, "is nested too deep", domarkx.ErrInvalid)
	}
	var tables map[string]any
	if _, err := toml.Decode(string(data), &tables); err != nil {
		at, ok := errors.AsType[toml.ParseError](err)
		if !ok {
			return Config{}, errorAt(nil, 0, err.Error(), domarkx.ErrInvalid)
		}
		return Config{}, errorAt(data, at.Position.Start, at.Message, domarkx.ErrInvalid)
	}
	r := reader{Config{data: data, places: places(all)}}
	if err := r.top(tables); err != nil {
		return Config{}, err
	}
	return r.Config, nil
}

// A reader converts the output of the TOML library to a Config.
type reader struct{ Config }

func (r *reader) top(tables map[string]any) error {
	for _, key := range r.keys("", tables) {
		var err error
		switch key {
		case resourcesKey:
			err = r.resources(tables[key])
		case pluginsKey:
			err = r.plugins(tables[key])
		case modelKey, modelsKey:
			var v jsonvalue.Value
			if v, err = r.value("/"+Escape(key), tables[key]); err == nil {
				r.Models = append(r.Models, jsonvalue.Member{Name: key, Value: v})
			}
		default:
			err = r.Error("/"+Escape(key), "is no key of this file, expected model, plugins or resources", domarkx.ErrInvalid)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) resources(v any) error {
	const at = "/" + resourcesKey
	list, err := r.value(at, v)
	if err != nil {
		return err
	}
	if list.Kind() != jsonvalue.Array || len(list.Items()) == 0 {
		return r.Error(at, "is no list of tables or an empty one, expected [[resources]], each with a type", domarkx.ErrInvalid)
	}
	for i, item := range list.Items() {
		if item.Kind() != jsonvalue.Object {
			return r.Error(fmt.Sprintf("%s/%d", at, i), "is "+article(item.Kind())+", expected a table with a type", domarkx.ErrInvalid)
		}
	}
	r.Resources = list.Items()
	return nil
}

func (r *reader) plugins(v any) error {
	const at = "/" + pluginsKey
	table, err := r.value(at, v)
	if err != nil {
		return err
	}
	if table.Kind() != jsonvalue.Object {
		return r.Error(at, "is "+article(table.Kind())+", expected tables [plugins.TYPE]", domarkx.ErrInvalid)
	}
	for _, m := range table.Members() {
		if m.Value.Kind() != jsonvalue.Object {
			return r.Error(at+"/"+Escape(m.Name), "is "+article(m.Value.Kind())+", expected the table of a type of resource", domarkx.ErrInvalid)
		}
		for _, own := range []string{"id", "type"} {
			if _, ok := m.Value.Get(own); ok {
				return r.Error(at+"/"+Escape(m.Name)+"/"+own, "has no default, expected it in [[resources]] alone", domarkx.ErrInvalid)
			}
		}
		r.Plugins = append(r.Plugins, Defaults{m.Name, m.Value})
	}
	return nil
}

// value converts a TOML value to JSON.
func (r *reader) value(at string, v any) (jsonvalue.Value, error) {
	switch v := v.(type) {
	case string:
		return jsonvalue.StringValue(v), nil
	case bool:
		return jsonvalue.BoolValue(v), nil
	case int64:
		return jsonvalue.NumberValue(strconv.FormatInt(v, 10)), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return jsonvalue.Value{}, r.Error(at, "is no finite number, expected one", domarkx.ErrInvalid)
		}
		return jsonvalue.NumberValue(strconv.FormatFloat(v, 'g', -1, 64)), nil
	case []any:
		return items(r, at, v)
	case []map[string]any:
		return items(r, at, v)
	case map[string]any:
		members := make([]jsonvalue.Member, 0, len(v))
		for _, key := range r.keys(at, v) {
			member, err := r.value(at+"/"+Escape(key), v[key])
			if err != nil {
				return jsonvalue.Value{}, err
			}
			members = append(members, jsonvalue.Member{Name: key, Value: member})
		}
		return jsonvalue.ObjectValue(members...), nil
	case time.Time:
		return jsonvalue.Value{}, r.Error(at, "is a date or time, which no config has, expected a string in quotes", domarkx.ErrInvalid)
	}
	return jsonvalue.Value{}, r.Error(at, fmt.Sprintf("is a %T, which no config has", v), domarkx.ErrInvalid)
}

func items[T any](r *reader, at string, list []T) (jsonvalue.Value, error) {
	values := make([]jsonvalue.Value, len(list))
	for i, item := range list {
		var err error
		if values[i], err = r.value(at+"/"+strconv.Itoa(i), item); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	return jsonvalue.ArrayValue(values...), nil
}

// keys returns the keys of a table in the order of the file.
func (r *reader) keys(at string, table map[string]any) []string {
	return slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		if n := r.places[at+"/"+Escape(a)] - r.places[at+"/"+Escape(b)]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
}

// Escape escapes a key as a token of a JSON pointer (RFC 6901).
func Escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

func article(k jsonvalue.Kind) string {
	switch k {
	case jsonvalue.Array:
		return "a list"
	case jsonvalue.Object:
		return "a table"
	}
	return "a " + k.String()
}
