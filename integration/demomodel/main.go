// Command demomodel is the model of "make demo": "demomodel SCRATCH [LLAMA]".
//
// It starts llama.cpp's server, which .ci/install-llama put into the directory LLAMA, with a small
// model whose words are written here. Without LLAMA, it starts the strict server that the tests
// use, which says the same. It prints what the server is, its URL and its key, a line each, and
// serves until it is terminated.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/llamatest"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

var says = llamatest.Model{
	Thought:   "They ask for the first of the days. The file days.txt has them.",
	Text:      "I look into the file.",
	Tool:      "shell__run_command",
	Arguments: `{"command": "head -n 1 days.txt"}`,
	Answer:    "That is the earliest of the days: the other lines come later.",
}

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: demomodel SCRATCH [LLAMA]")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "demomodel:", err)
		os.Exit(1)
	}
}

func serve(scratch string, llama []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(llama) == 1 {
		s, err := llamatest.Run(ctx, llama[0], filepath.Join(scratch, "model.gguf"), says, "-c", "32768", "-np", "1")
		if err != nil {
			return err
		}
		defer s.Kill()
		fmt.Printf("llama.cpp's server, with a model of a few sentences\n%s\n%s\n", s.URL, llamatest.Key)
	} else {
		s := providertest.Start(
			providertest.Reply{Thought: says.Thought, Text: says.Text, Calls: []providertest.Call{{Name: says.Tool, Arguments: says.Arguments}}},
			providertest.Reply{Text: says.Answer})
		defer s.Close()
		fmt.Printf("the strict server of the tests, because llama.cpp's cannot be had here\n%s\n%s\n", s.Base(), providertest.Key)
	}
	<-ctx.Done()
	return nil
}
