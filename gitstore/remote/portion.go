package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// portions divides the changes of a push, because hosts refuse packs over some size. A portion sends at most c.Portion bytes, as
// the objects are stored here, unless a single commit has more. It moves a reference with a longer history to an earlier commit of
// that history, so the remote never has a part of a history. Old of a later portion is New of the one before.
func (c *Client) portions(ctx context.Context, to Remote, changes []refdb.Change) ([][]refdb.Change, error) {
	var tips strings.Builder
	for _, change := range changes {
		if change.New != "" {
			tips.WriteString(change.New + "\n")
		}
	}
	if c.Portion <= 0 || tips.Len() == 0 {
		return [][]refdb.Change{changes}, nil
	}
	known, err := c.known(to)
	if err != nil {
		return nil, err
	}
	size, err := c.Git.Run(ctx, strings.NewReader(tips.String()+known), "rev-list", "--objects", "--disk-usage", "--missing=allow-any", "--ignore-missing", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("measuring what to push: %w", err)
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(size)), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("measuring what to push: %w", err)
	}
	if bytes <= c.Portion {
		return [][]refdb.Change{changes}, nil
	}
	d := &division{limit: c.Portion}
	for _, change := range changes {
		if change.New != "" {
			if err := c.divide(ctx, to, d, change, known); err != nil {
				return nil, fmt.Errorf("dividing what to push: %w", err)
			}
			known += "^" + change.New + "\n"
		} else {
			d.open = append(d.open, change)
		}
	}
	return append(d.done, d.open), nil
}

// known returns lines for the stdin of git rev-list that exclude the commits that the remote has. Those that a redaction replaced
// here count as far as they are still stored.
func (c *Client) known(to Remote) (string, error) {
	seen, _, err := c.Seen(to)
	var lines strings.Builder
	for _, ref := range seen {
		lines.WriteString("^" + c.there(to.Tracking(ref.Name), ref.ID) + "\n")
	}
	return lines.String(), err
}

// A division is a list of portions in the making.
type division struct {
	limit      int64
	done       [][]refdb.Change
	open       []refdb.Change // changes of the next portion
	size, rest int64          // bytes of the next portion, and how many of them would remain if it ended now
}

// end ends the portion. It moves the reference of change to the commit id first, unless id is "", and returns the rest of change.
func (d *division) end(change refdb.Change, id string) refdb.Change {
	if id != "" {
		d.open = append(d.open, refdb.Change{Ref: change.Ref, Old: change.Old, New: id})
		change.Old = id
	}
	if len(d.open) > 0 {
		d.done, d.open = append(d.done, d.open), nil
	}
	d.size = d.rest
	return change
}

// divide adds a change to the division. known are lines for the stdin of git rev-list that
// exclude the commits that the remote has by then.
func (c *Client) divide(ctx context.Context, to Remote, d *division, change refdb.Change, known string) error {
	stops, err := c.stops(ctx, to, change)
	if err != nil {
		return err
	}
	ids, out := io.Pipe()
	listed := make(chan error, 1)
	go func() {
		_, err := c.Git.Do(ctx, gitcmd.Command{
			Args:   []string{"rev-list", "--objects", "--in-commit-order", "--reverse", "--no-object-names", "--missing=allow-any", "--ignore-missing", "--stdin"},
			Stdin:  strings.NewReader(change.New + "\n" + known),
			Stdout: out,
		})
		out.Close()
		listed <- err
	}()
	var current, stop string // the commit whose objects are listed, and the newest one before it at which the portion can end
	d.rest = 0
	sizes := gitcmd.Command{Args: []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize:disk)", "--buffer"}, Stdin: ids}
	err = c.Git.Lines(ctx, sizes, func(line []byte) error {
		fields := strings.Fields(string(line))
		if len(fields) != 3 {
			return nil // missing here, so it is not sent
		}
		if fields[1] == "commit" {
			if stops[current] {
				stop, d.rest = current, 0
			}
			current = fields[0]
		}
		bytes, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil
		}
		d.size, d.rest = d.size+bytes, d.rest+bytes
		if d.size > d.limit && (stop != "" || len(d.open) > 0) {
			change, stop = d.end(change, stop), ""
		}
		return nil
	})
	_, unread := io.Copy(io.Discard, ids) // nothing, unless git cat-file has ended early
	d.open = append(d.open, change)
	return errors.Join(err, unread, <-listed)
}

// stops returns the commits that the remote's reference can have between the values of a change: each descends from the old
// value, and the new one descends from it.
func (c *Client) stops(ctx context.Context, to Remote, change refdb.Change) (map[string]bool, error) {
	args := []string{"rev-list", "--first-parent", change.New}
	if change.Old != "" {
		if c.there(to.Tracking(change.Ref), change.Old) != change.Old {
			return nil, nil // redacted here: nothing new descends from what the remote has
		}
		args = []string{"rev-list", "--ancestry-path", change.Old + ".." + change.New}
	}
	out, err := c.Git.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	stops := map[string]bool{}
	for id := range strings.FieldsSeq(string(out)) {
		stops[id] = true
	}
	delete(stops, change.New)
	return stops, nil
}
