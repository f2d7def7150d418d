package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
)

const someID = "0123456789abcdef0123456789abcdef01234567"

func sampleTable() *table {
	t := newTable("NAME", "SNAPSHOT", "DATE", "N", "SUMMARY")
	t.add(text("talk"), oid(someID), date(1772445249), number(3), text("a\tb\nc"))
	t.add(text("日本"), oid(""), date(0), number(int64(10)), text("\x1b[31m red"))
	return t
}

func sampleInvocation(tty bool) (*invocation, *bytes.Buffer) {
	var b bytes.Buffer
	inv := newInvocation(context.Background(), func(string) string { return "1" }, stdio{nil, &b, &b}, &globals{Color: "never"}, nil)
	inv.out.tty = tty
	return inv, &b
}

func TestTableForPrograms(t *testing.T) {
	inv, b := sampleInvocation(false)
	sample := sampleTable()
	sample.add(text("bad \xff utf-8"), text("\xed\xa0\xbd cut"), path("bad \xff utf-8"))
	if err := sample.write(inv); err != nil {
		t.Fatal(err)
	}
	if err := inv.close(); err != nil {
		t.Fatal(err)
	}
	want := "talk\t" + someID + "\t2026-03-02T09:54:09Z\t3\ta\\tb\\nc\n" +
		"日本\t\t\t10\t\\x1b[31m red\n" +
		"bad \uFFFD utf-8\t\uFFFD cut\tbad \xff utf-8\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

func TestTableForPeople(t *testing.T) {
	inv, b := sampleInvocation(true)
	long := strings.Repeat("fix ", 30)
	for _, kind := range []string{nameColumn, previewColumn} {
		cut := newTable()
		cut.shapes = []shape{{kind: kind}}
		cut.add(text(long))
		if err := cut.write(inv); err != nil {
			t.Fatal(err)
		}
	}
	if err := sampleTable().write(inv); err != nil {
		t.Fatal(err)
	}
	if err := inv.close(); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1772445249, 0).Format("2006-01-02 15:04")
	want := strings.TrimSpace(long[:40]+"…"+long[81:]) + "\n" + long[:79] + "…\n" +
		"NAME  SNAPSHOT    DATE              N   SUMMARY\n" +
		"talk  0123456789  " + when + "  3   a\\tb\\nc\n" +
		"日本                                10  \\x1b[31m red\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestCut(t *testing.T) {
	for _, test := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語です", 5, "日本…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
	} {
		got := cut(test.in, test.width)
		if got != test.want || uniseg.StringWidth(got) > test.width {
			t.Errorf("cut(%q, %d) = %q, expected %q", test.in, test.width, got, test.want)
		}
	}
}
