package main

type modelCmd struct {
	List modelListCmd `cmd:"" help:"List the configured models, and whether their keys are found."`
	Test modelTestCmd `cmd:"" help:"Make one small call to a model."`
}
