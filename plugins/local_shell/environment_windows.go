package localshell

// systemVariables are the environment variables that programs need to start.
var systemVariables = []string{"SystemRoot", "windir", "ComSpec", "PATHEXT", "SystemDrive"}
