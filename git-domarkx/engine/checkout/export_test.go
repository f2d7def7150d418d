package checkout

var (
	IsBare     = isBare
	OddSetting = oddSetting
)
