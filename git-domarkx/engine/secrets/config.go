package secrets

// Rules are rules of a user or a repository, which New adds to the built-in ones.
type Rules struct {
	rules  []ruleText
	allow  []*allowlist
	digest string
}
