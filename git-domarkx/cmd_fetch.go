package main

type fetchCmd struct {
	exchangeOption
}

func (c *fetchCmd) Run(inv *invocation, opened managers) error {
	remote, names, err := c.where(inv)
	if err != nil {
		return err
	}
	progress, finish := inv.fetchProgress()
	results, err := opened.remotes.Fetch(inv.ctx, remote, names, progress)
	finish()
	return c.printExchange(inv, results, err)
}
