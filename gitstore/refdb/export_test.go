package refdb

// For the fuzz targets.
var (
	ParseJournal = func(data []byte) (any, bool) { return parseJournal(data) }
	ParseRecord  = parseRecord
	LastTime     = lastTime
	CheckName    = checkName
)
