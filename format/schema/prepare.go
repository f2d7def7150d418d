package schema

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// prepare compiles the patterns of a schema and its subschemas, and reports whether
// [checker] knows all keywords in them.
func (s *Schema) prepare(sub *jsonschema.Schema) bool {
	known := knowsKeywords(sub)
	if sub.Pattern != "" {
		pattern, err := regexp.Compile(sub.Pattern)
		switch {
		case err == nil:
			s.patterns[sub.Pattern] = pattern
		case s.foreign:
			sub.Pattern = ""
		default: // the library reports it
			return false
		}
	}
	if sub.Ref != "" && s.definition(sub.Ref) == nil {
		known = false
	}
	if isFalse(sub) {
		return known
	}
	for _, all := range []map[string]*jsonschema.Schema{sub.Properties, sub.Defs, sub.Definitions} {
		for _, child := range all {
			known = s.prepare(child) && known
		}
	}
	for _, all := range [][]*jsonschema.Schema{sub.AllOf, sub.AnyOf, sub.OneOf, {sub.AdditionalProperties, sub.Items, sub.Not, sub.If, sub.Then, sub.Else}} {
		for _, child := range all {
			if child != nil {
				known = s.prepare(child) && known
			}
		}
	}
	return known
}

// knowsKeywords reports whether [checker] or nobody has to check each keyword that is
// set in a schema itself.
func knowsKeywords(s *jsonschema.Schema) bool {
	return reflect.ValueOf(jsonschema.Schema{
		Anchor: s.Anchor, DynamicAnchor: s.DynamicAnchor, DynamicRef: s.DynamicRef, Vocabulary: s.Vocabulary,
		DependencySchemas: s.DependencySchemas, DependencyStrings: s.DependencyStrings,
		MultipleOf: s.MultipleOf, PrefixItems: s.PrefixItems, ItemsArray: s.ItemsArray, AdditionalItems: s.AdditionalItems,
		UniqueItems: s.UniqueItems, Contains: s.Contains, MinContains: s.MinContains, MaxContains: s.MaxContains,
		UnevaluatedItems: s.UnevaluatedItems, MinProperties: s.MinProperties, MaxProperties: s.MaxProperties,
		DependentRequired: s.DependentRequired, PatternProperties: s.PatternProperties, PropertyNames: s.PropertyNames,
		UnevaluatedProperties: s.UnevaluatedProperties, DependentSchemas: s.DependentSchemas,
	}).IsZero()
}

// definition returns the subschema that a reference to a definition of the same
// document names; nil for any other reference.
func (s *Schema) definition(ref string) *jsonschema.Schema {
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return s.root.Defs[name]
	}
	if name, ok := strings.CutPrefix(ref, "#/definitions/"); ok {
		return s.root.Definitions[name]
	}
	return nil
}

// isFalse reports whether a schema is false, which the library represents as {"not": {}}.
func isFalse(s *jsonschema.Schema) bool {
	return s.Not != nil && reflect.ValueOf(s.Not).Elem().IsZero()
}
