package main

import "github.com/domarkx/domarkx/plugins/limit"

// Help returns the text of the program's own page.
func (*commandLine) Help() string {
	return `
Git domarkx keeps AI sessions, conversations with a model, in the Git repository
that you are in. A session is a list of messages; each state of it is a snapshot, a
commit on the ref "refs/domarkx/sessions/NAME". Branches, index, work tree and
hooks are not touched.

A mount shows each session as a Markdown file: saving it in any editor makes the
next snapshot. What is saved reads back byte for byte.

The calls of a session run in its workspace, once you trust them. Each leaves a version of
the workspace, a commit on the ref "refs/domarkx/workspaces/NAME".

## Sessions, snapshots and messages

- ` + "`NAME`" + ` is a session: its newest snapshot.
- ` + "`NAME~2`" + ` is the snapshot two before that.
- ` + "`NAME@OID`" + ` is the snapshot whose object id begins with OID.
- ` + "`NAME#K`" + ` or ` + "`NAME:K`" + ` is message K, counted from 0; ` + "`git domarkx log --messages NAME`" + ` lists K.

A name has components separated by slashes. A component has no white space, control
character, two dots in a row or any of @ # ~ ^ : \ ? * [, does not begin with - or a dot, does
not end with .md, .lock or a dot, and is at most 200 bytes long. Import maps what does not fit to "-"; other
commands refuse it and say what would fit.

## Output

Results are written to standard output, all else to standard error. On a terminal a
result is a table; elsewhere it is lines of fields separated by tabs, with full
object ids and dates in ISO 8601, UTC, in which a tab, line end or backslash is
written \t, \n, \r or \\. --json prints a JSON array of objects, or one object for a single
result; the help of each command lists their members. log, show and diff use Git's pager on a terminal.

## Configuration

These are read with git config:

- ` + "`domarkx.mount.dir`" + `: the directory that mount uses when none is given.
- ` + "`domarkx.remote`" + `: the remote that push, fetch and pull use when none is given; else the only one, or origin.
- ` + "`domarkx.allowNetwork`" + `: whether containers may reach the network; false unless set.
- ` + "`domarkx.allowMount`" + `, ` + "`domarkx.allowDSN`" + `, ` + "`domarkx.allowURL`" + `: a host directory that containers may see, a database that may be used, the beginning of the URLs that may be cloned or that MCP servers may have; each any number of times.
- ` + "`domarkx.versions.keep`" + `: which versions of workspaces keep their files when gc runs: those of an age such as 90d, 12w, 6m or 1y, or since a date, or a number of versions for each session; all unless set.
- ` + "`domarkx.sandbox`" + `: false lets the commands of local shells run without confinement.
- ` + "`domarkx.model`" + `, ` + "`domarkx.approve`" + `, ` + "`domarkx.price`" + `: models, what they may do and cost; see "git domarkx help model", "help chat" and "help usage".
- ` + "`domarkx.agent.ignore`" + `, ` + "`domarkx.redact`" + `, ` + "`domarkx.scan.repositoryRules`" + `: see "git domarkx help agent watch", "help import" and "help scan".
- ` + "`domarkx.zeus`" + `: see "git domarkx help zeus".
- ` + "`color.domarkx`" + `, ` + "`color.ui`" + `: auto, always or never.
- ` + "`core.editor`" + `, ` + "`core.pager`" + `: as for Git.
- ` + "`gc.reflogExpireUnreachable`" + `: how long the trash keeps a removed session; 30 days unless set.

## Limits

No document can raise these. A number may end in k, m or g, as in 500m; 0 is no limit.

` + limit.Help() + `
What is over a limit of files or bytes is not in the version: first what is larger than a file may be, then the directory with
the most files, or the largest files where the version is too large. The version, the call's result (left_out) and doctor name
it, and a rewind leaves it as it is. A database has to fit, or the call's result says why its version cannot be kept. A hole
in a file counts for its size, but is not read. Recorded work trees have the same limits.

A command over its limit is ended with everything that it started, and its result says so (limit_exceeded). In a container, forks fail
when it has as many processes, and the kernel ends what uses too much memory. These two limits work on Linux.
A call's timeout covers the commit of its version, which has at least ten seconds.

More than a push sends at once goes in portions. The remote has whole sessions and versions after each of them; a single snapshot or version is never divided.

## Environment

- ` + "`GIT_DIR`" + ` and the other variables of Git mean what they mean for Git, as do "git -C" and "git -c".
- ` + "`NO_COLOR`" + `: when set, no colours.
- ` + "`GIT_EDITOR`" + `, ` + "`GIT_PAGER`" + `: as for Git.

## Files

- ` + "`refs/domarkx/sessions/`" + `: the sessions; ` + "`refs/domarkx/workspaces/`" + `: their workspaces; ` + "`refs/domarkx-remotes/`" + `: what remotes have; ` + "`refs/domarkx-trash/`" + `: what was removed.
- ` + "`.git/domarkx/`" + `: drafts, live workspaces, journal and locks of this machine. Nothing in it is shared.
`
}
