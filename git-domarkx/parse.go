package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// parse parses a command line into the fields of its command.
//
// It does in its own steps what [kong.Kong.Parse] does, because that, [kong.Context.Validate] and [kong.Context.Run] look up
// methods by name. Where a program does so, the linker keeps every exported method of every type: a program of 72 MB instead of 39.
func parse(parser *kong.Kong, args []string) (*kong.Node, error) {
	ctx, err := kong.Trace(parser, args)
	if err != nil {
		return nil, err
	}
	command := cmp.Or(ctx.Selected(), ctx.Model.Node)
	if ctx.Error != nil {
		return nil, &parseError{ctx.Error, command}
	}
	for _, path := range ctx.Path {
		if path.Flag != nil && slices.Contains(ctx.Model.Flags, path.Flag) && slices.Contains([]string{"usage", "help", "version"}, path.Flag.Name) {
			return nil, &helpRequest{command, path.Flag.Name}
		}
	}
	err = ctx.Reset()
	if err == nil {
		_, err = ctx.Apply()
	}
	if err == nil {
		err = validate(ctx, command)
	}
	if err != nil {
		return nil, &parseError{err, command}
	}
	return command, nil
}

// A parseError is a command line that the grammar does not allow.
type parseError struct {
	error
	command *kong.Node // the program, if the command line names no command
}

func (e *parseError) Unwrap() error { return e.error }

// errNoCommand means that a command line ends before its command.
var errNoCommand = errors.New("a command is missing")

// validate checks what the tags enum, required and xor of the grammar demand, and that there is a command and its arguments.
func validate(ctx *kong.Context, command *kong.Node) error {
	for _, path := range ctx.Path {
		for _, flag := range path.Flags {
			if err := checkEnum(flag.Value); err != nil {
				return err
			}
		}
	}
	if len(command.Children) > 0 {
		return errNoCommand
	}
	var missing []string
	for _, path := range ctx.Path {
		for _, flag := range path.Flags {
			if flag.Required && !flag.Set {
				missing = append(missing, flag.Summary())
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
	}
	for _, argument := range command.Positional {
		if argument.Required && !argument.Set {
			missing = append(missing, argument.Summary())
		}
		if argument.Set {
			if err := checkEnum(argument); err != nil {
				return err
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing %s", strings.Join(missing, " "))
	}
	return checkExclusive(ctx.Flags())
}

// checkEnum checks that a value is one of those that its tag allows.
func checkEnum(value *kong.Value) error {
	if value.Enum == "" {
		return nil
	}
	got := fmt.Sprint(value.Target)
	var allowed []string
	for _, word := range value.EnumSlice() {
		if word == got {
			return nil
		}
		if word != "" { // no value is not one to type
			allowed = append(allowed, strconv.Quote(word))
		}
	}
	return fmt.Errorf("%s must be one of %s but got %q", value.ShortSummary(), strings.Join(allowed, ","), got)
}

// checkExclusive checks that no two flags of the same xor tag are set.
func checkExclusive(flags []*kong.Flag) error {
	set := map[string]*kong.Flag{}
	for _, flag := range flags {
		for _, group := range flag.Xor {
			if !flag.Set {
				continue
			}
			if other := set[group]; other != nil {
				return fmt.Errorf("--%s and --%s can't be used together", other.Name, flag.Name)
			}
			set[group] = flag
		}
	}
	return nil
}
