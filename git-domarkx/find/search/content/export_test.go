package content

// CallValues returns the values in the JSON of a call.
func CallValues(text string) []string {
	var values []string
	s := jsonScanner{data: text}
	for s.next() {
		value := s.out[s.start:]
		if s.isString {
			value = value[1 : len(value)-s.closing]
		}
		values = append(values, string(value))
	}
	return values
}
