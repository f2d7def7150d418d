package zeus

func isOwnSocket(string) bool { return false }
