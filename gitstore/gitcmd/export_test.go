package gitcmd

// For the fuzz targets.
var (
	ParseConfig = parseConfig
	ParseIdent  = parseIdent
	ParseInt    = parseInt
)
