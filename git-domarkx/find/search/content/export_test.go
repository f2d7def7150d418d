package content

// CallValues returns the values in the JSON of a call.
func CallValues(text string) (values []string) {
	scanJSON(nil, text, func(_ string, _ int, _ bool, value []byte) { values = append(values, string(value)) })
	return values
}
