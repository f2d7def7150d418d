package main

type fetchCmd struct {
	exchangeOption
	Remote string   `arg:"" optional:"" name:"REMOTE" help:"A remote or URL of Git; domarkx.remote, else the only one, else origin."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"The sessions."`
}

func (c *fetchCmd) Run(inv *invocation, opened managers) error {
	remote, names, err := inv.remoteAndNames(c.Remote, c.Names)
	if err != nil {
		return err
	}
	progress, finish := inv.fetchProgress()
	results, err := opened.remotes.Fetch(inv.ctx, remote, names, progress)
	finish()
	return c.printExchange(inv, results, err)
}
