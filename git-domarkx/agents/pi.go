package agents

import "github.com/domarkx/domarkx/format/pi"

func piCLI() Agent {
	return Agent{
		Name: pi.Name, Program: "pi", Install: "npm install -g @mariozechner/pi-coding-agent",
		Home: at("PI_CODING_AGENT_DIR", ".pi", "agent"), Files: []string{"sessions/**/*.jsonl"}, Origin: stated("cwd"),
	}
}
