package schema

import "github.com/domarkx/domarkx"

// HasRule reports whether rules can say the schema.
func (s *Schema) HasRule() bool { return s.rule != nil }

// Verdicts returns whether the rule says that a value holds and that it fails, and
// whether the validator takes it.
func (s *Schema) Verdicts(v domarkx.Value) (isSure, isRefused, valid bool, err error) {
	known := s.rule.check(v, 0)
	validator, err := s.validator()
	if err != nil {
		return false, false, false, err
	}
	return known == holds, known == fails, validator.Validate(plain(v)) == nil, nil
}
