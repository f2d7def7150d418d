package main

type zeusCmd struct {
	Save    zeusSaveCmd    `cmd:"" help:"Save which agents are live, with their sessions."`
	List    zeusListCmd    `cmd:"" help:"List the agents that were saved."`
	Restore zeusRestoreCmd `cmd:"" help:"Start the agents of a snapshot again."`
}
