package gitrepository

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// sourceName is the name of the cloned remote, used only for git's arguments.
const sourceName = "domarkx-source"

// A source is the repository to clone in the form in which git receives it. Everybody on the machine
// can read the arguments of programs, and reflogs record them. So git receives the URL and its
// secrets in environment variables.
type source struct {
	url      string      // as git's own programs get it, as an argument too
	settings [][2]string // settings of git: name and value
	secrets  []string    // NAME=VALUE
}

// credentialHelper gives git the name and password of a URL (gitcredentials(7)).
const credentialHelper = `!f() { test "$1" != get || printf 'username=%s\npassword=%s\n' "$DOMARKX_USERNAME" "$DOMARKX_PASSWORD"; }; f`

// inDirectory makes git run git-upload-pack in the directory of a repository instead of naming the
// directory. The "#" comments out the path that git appends.
const inDirectory = `cd "$DOMARKX_SOURCE" && git-upload-pack . #`

// source returns the source for a URL. It refuses a ${NAME} in a place that git would pass to
// another program as an argument.
func (r *repository) source(from string) (source, error) {
	written, _ := r.env.Written.Get("url")
	value, _ := r.env.Config.Get("url")
	expanded := written.Kind() == jsonvalue.String && domarkx.Expanded(written, value)
	scheme, rest, isURL := strings.Cut(from, "://")
	switch {
	case scheme == "https" && isURL:
		authority, path, _ := strings.Cut(rest, "/")
		user, host, hasUser := cutLast(authority, "@")
		if expanded {
			_, after, _ := strings.Cut(written.Text(), "://")
			before, writtenPath, _ := strings.Cut(after, "/")
			_, writtenHost, _ := cutLast(before, "@")
			if plain(writtenHost) != host || plain(writtenPath) != path {
				return source{}, misplaced("https")
			}
		}
		if !hasUser {
			return source{url: from}, nil
		}
		name, password, _ := strings.Cut(user, ":")
		s := source{url: "https://" + host + "/" + path, settings: [][2]string{{"credential.https://" + host + ".helper", credentialHelper}}}
		for _, secret := range [][2]string{{"DOMARKX_USERNAME", name}, {"DOMARKX_PASSWORD", password}} {
			text, err := url.PathUnescape(secret[1])
			if err != nil || strings.ContainsAny(text, "\n\r\x00") {
				return source{}, refusal("the name or password in the URL has a \"%%\" without two hexadecimal digits, or stands for a line break")
			}
			s.secrets = append(s.secrets, secret[0]+"="+text)
		}
		return s, nil
	case !expanded:
		return source{url: from}, nil
	case scheme == "file" && isURL:
		path, err := url.PathUnescape(rest)
		if err != nil || !filepath.IsAbs(path) {
			return source{}, refusal("expected an absolute path after file://")
		}
		return localSource(path), nil
	case filepath.IsAbs(from):
		return localSource(from), nil
	}
	return source{}, misplaced("ssh")
}

func localSource(path string) source {
	return source{url: "file:///", settings: [][2]string{{"remote." + sourceName + ".uploadpack", inDirectory}}, secrets: []string{"DOMARKX_SOURCE=" + path}}
}

// plain removes the escapes $${ from a text of a document. It equals the expanded text if, and only
// if, the text names no variable.
func plain(written string) string { return strings.ReplaceAll(written, "$${", "${") }

func misplaced(scheme string) error {
	return refusal("${NAME} cannot stand at this place in a URL of %s, because git would give its value to other programs as an argument, which every user of this machine can read; write the value itself. "+
		"${NAME} can be the user name or password of https://${NAME}:${NAME}@host/path, or in a local path", scheme)
}

func refusal(format string, args ...any) error {
	return domarkx.NewToolError(domarkx.CodeRefused, format, args...)
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// redact returns a URL without its password. For https it also removes the user name, which may be a
// token.
func redact(from string) string {
	scheme, rest, ok := strings.Cut(from, "://")
	host, path, _ := strings.Cut(rest, "/")
	i := strings.LastIndexByte(host, '@')
	if !ok || i < 0 {
		return from
	}
	if name, _, _ := strings.Cut(host[:i], ":"); scheme == "ssh" {
		return scheme + "://" + name + "@" + host[i+1:] + "/" + path
	}
	return scheme + "://" + host[i+1:] + "/" + path
}

// shownURL returns the URL in the form that may be stored and shown: with ${NAME} as in the document,
// and without a password.
func (r *repository) shownURL() string {
	if written, ok := r.env.Written.Get("url"); ok {
		return redact(written.Text())
	}
	return redact(r.text("url"))
}

// hide removes the secrets of a URL from an error. Git's output may contain the value of a ${NAME} in
// any form, so it is omitted then.
func (r *repository) hide(err error, from string) error {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) {
		return err
	}
	failed.Args = nil
	if written, ok := r.env.Written.Get("url"); ok && written.Text() != from {
		failed.Stderr = "git cannot fetch from it; its message is not shown, because it may have the value of ${NAME}"
	}
	failed.Stderr = strings.ReplaceAll(failed.Stderr, from, redact(from))
	return err
}
