package trust

var OddSetting = oddSetting
