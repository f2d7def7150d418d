package delta

// Content returns the content of a base that is in memory.
func (b *Base) Content() []byte { return b.content }

var AppendSamples = appendSamples
