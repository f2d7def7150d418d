package main

import "github.com/domarkx/domarkx/git-domarkx/find/size"

type sizeCmd struct {
	jsonOption
	By string `enum:"session,workspace,kind" default:"kind" placeholder:"KEY" help:"List sessions, workspaces or kinds of content (the default)."`
}

func (sizeCmd) row() any { return rowAlternatives{[]kindSizeRow{}, []sizeRow{}} }

type kindSizeRow struct {
	Name   string `json:"name" head:"NAME" show:"name" doc:"the kind of content: messages, originals, attachments, versions, trash or remotes; or an entry of .git/domarkx"`
	Only   int64  `json:"only" head:"ONLY" doc:"bytes on disk that only sessions and workspaces need"`
	Shared int64  `json:"shared" head:"SHARED" doc:"bytes on disk that branches, tags or other references need as well"`
}

type sizeRow struct {
	Name        string `json:"name" head:"NAME" show:"name" doc:"the name of the session or workspace"`
	Only        int64  `json:"only" head:"ONLY" doc:"bytes on disk that nothing else needs"`
	Shared      int64  `json:"shared" head:"SHARED" doc:"bytes on disk that others need as well"`
	Messages    int64  `json:"messages" head:"MESSAGES" doc:"bytes of messages and snapshots, in only and shared together"`
	Originals   int64  `json:"originals" head:"ORIGINALS" show:",spare" doc:"bytes of imported documents as their programs wrote them"`
	Attachments int64  `json:"attachments" head:"ATTACHMENTS" show:",spare" doc:"bytes of attached files"`
	Versions    int64  `json:"versions" head:"VERSIONS" doc:"bytes of versions of workspaces"`
}

func (c *sizeCmd) Run(inv *invocation, opened managers) error {
	setGCPercent(inv.getenv, 100)
	report, err := size.Measure(inv.ctx, opened.store)
	if err != nil {
		return err
	}
	switch c.By {
	case "session":
		return printResults(inv, c.JSON, mapped(report.Sessions, sizeRowOf))
	case "workspace":
		return printResults(inv, c.JSON, mapped(report.Workspaces, sizeRowOf))
	}
	rows := mapped(report.Kinds, func(k size.KindUse) kindSizeRow { return kindSizeRow{k.Kind.String(), k.Only, k.Shared} })
	for _, s := range report.State {
		rows = append(rows, kindSizeRow{".git/domarkx/" + s.Name, s.Bytes, 0})
	}
	return printResults(inv, c.JSON, rows)
}

func sizeRowOf(u size.Use) sizeRow {
	return sizeRow{u.Name, u.Only, u.Shared, u.Of[size.Messages], u.Of[size.Originals], u.Of[size.Attachments], u.Of[size.Versions]}
}
