package trust

var (
	OddSetting   = oddSetting
	IsRepository = isRepository
)
