package main

// pathOption is the options of commands that print one path.
type pathOption struct{ jsonOption }

func (pathOption) row() any { return pathRow{} }

type pathRow struct {
	Path string `json:"path" head:"PATH" doc:"the directory or file"`
}

func (o pathOption) printPath(inv *invocation, path string) error {
	return printResult(inv, o.JSON, pathRow{path})
}
