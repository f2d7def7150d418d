package main

type modelCmd struct {
	List modelListCmd `cmd:"" help:"List the configured models, and whether their keys are found."`
	Test modelTestCmd `cmd:"" help:"Make one small call to a model."`
}

func (modelCmd) Help() string {
	return `
A model is defined in Git's configuration, for this repository or (--global) for all:

    git config domarkx.model local
    git config domarkx.model.local.provider openai-chat
    git config domarkx.model.local.url http://127.0.0.1:8080/v1

The first line names the default. A definition has these settings:

    provider    anthropic (Messages), openai (Responses), openai-chat (Chat Completions,
                which most servers speak) or gemini
    url         with its version, such as https://api.openai.com/v1; plain http only for
                this machine. Redirects are not followed
    model       the provider's name of the model; NAME unless set
    keyEnv      the environment variable with the key
    keyHelper   a command that prints the key
    context     the size of the context window, in tokens
    maxTokens   the longest answer, in tokens
    reasoning   off, low, medium or high
    timeout     seconds without a byte after which a request fails; 120 unless set

The names anthropic/MODEL, openai/MODEL and gemini/MODEL need no definition; their keys are
in ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY.

A key is taken from the variable, else from the helper, else from Git's credential helpers
for the URL. It is sent to that URL alone, and never stored or shown.
`
}
