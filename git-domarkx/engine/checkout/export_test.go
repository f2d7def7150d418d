package checkout

var (
	IsGitName = isGitName
	IsBare    = isBare
)
