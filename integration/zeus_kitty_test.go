package integration_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// screen starts a display server and returns the fleet on it.
func (f *fleet) screen(tb testing.TB) *fleet {
	tb.Helper()
	needProgram(tb, "Xvfb", "kitty")
	number, write, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{write}
	start(tb, cmd)
	write.Close()
	var display int
	if _, err := fmt.Fscan(number, &display); err != nil {
		tb.Fatalf("Xvfb: %v", err)
	}
	number.Close()
	screen := f.windows(fmt.Sprintf("DISPLAY=:%d", display))
	screen.write("conf/kitty.conf", screen.read("conf/kitty.conf")+"linux_display_server x11\n")
	return screen
}

// windows returns the fleet with kitty settings of its own and more environment
// variables.
func (f *fleet) windows(env ...string) *fleet {
	sockets := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(f.git("config", "domarkx.zeus.kitty")), "-*"), "unix:")
	f.write("conf/kitty.conf", "allow_remote_control yes\nlisten_on unix:"+sockets+"\nupdate_check_interval 0\nconfirm_os_window_close 0\n")
	other := *f
	other.site = f.with(append(env, "LIBGL_ALWAYS_SOFTWARE=1", "KITTY_CONFIG_DIRECTORY="+f.path("conf"), "KITTY_CACHE_DIRECTORY="+f.path("conf"))...)
	return &other
}

// start starts a program that ends with the test.
func start(tb testing.TB, cmd *exec.Cmd) {
	tb.Helper()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// kitty starts an agent in a window and waits until it runs.
func (f *fleet) kitty(id, name string, env ...string) {
	f.tb.Helper()
	cmd := f.command(context.Background(), "kitty", "--hold", "sleep", "1000")
	cmd.Dir = f.work
	cmd.Env = append(append([]string{}, f.env...), append(env, "ZEUS_AGENT_ID="+id, "ZEUS_AGENT_NAME="+name, "PASSWORD=hunter2")...)
	start(f.tb, cmd)
	address := fmt.Sprintf("%s-%d", strings.TrimSuffix(strings.TrimSpace(f.git("config", "domarkx.zeus.kitty")), "-*"), cmd.Process.Pid)
	eventually(f.tb, "kitty listens", func() bool {
		if _, err := os.Stat(strings.TrimPrefix(address, "unix:")); err != nil { // starting "kitty @" is much more work
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), maxRun)
		defer cancel()
		out, err := f.command(ctx, "kitty", "@", "--to", address, "ls").Output()
		return err == nil && strings.Contains(string(out), id)
	})
}

// TestZeusKitty saves and restores agents in windows.
func TestZeusKitty(t *testing.T) {
	f := newFleet(t)
	f = f.screen(t)
	t.Cleanup(func() { f.try("", "git-domarkx", "zeus", "save", "--close") }) // restored agents outlive the program that starts them
	a, h := f.transcript("a.jsonl"), f.transcript("h.jsonl")
	f.kitty("k-1", "pomona", "ZEUS_ROLE=Polemarch", "ZEUS_SESSION_PATH="+a)
	f.tmux("hop", "@zeus_agent", "h-1", "@zeus_role", "hoplite", "@zeus_owner", "k-1", "@zeus_phalanx", "p", "@zeus_session_path", h)
	f.expect(0, []string{"save", "--name", "windows"}, "k-1 | kitty | saved | "+a, "h-1 | hoplite | saved | "+h)
	name := f.only("-windows")
	snapshot := f.domarkx("export", "--format", "zeus", name)
	for _, want := range []string{`"kind": "kitty"`, `"name": "pomona"`, `"role": "polemarch"`, `"workspace": "?"`, `"session_source": "env"`, `"parent_id": ""`, `"cwd": "` + f.work + `"`} {
		if !strings.Contains(snapshot, want) {
			t.Errorf("no %s in\n%s", want, snapshot)
		}
	}
	if all := f.git("cat-file", "--batch-all-objects", "--batch", "--buffer"); strings.Contains(all, "hunter2") {
		t.Error("the environment of a window is stored")
	}

	// An agent without a session path uses the newest session of its directory, if no
	// other agent works there.
	f.kitty("k-2", "vertumnus")
	f.expect(1, []string{"save"}, "k-1 | kitty | skipped | *", "k-2 | kitty | failed | *", "h-1 | hoplite | skipped | *")
	pi := filepath.Join(f.home(), ".pi/agent/sessions/--"+strings.ReplaceAll(strings.TrimPrefix(f.work, "/"), "/", "-")+"--")
	f.write(pi+"/2026-01-01T00-00-00-000Z_1.jsonl", "{}\n")
	f.expect(1, []string{"save"}, "k-1 | kitty | skipped | *", "k-2 | kitty | failed | *", "h-1 | hoplite | skipped | *")
	f.write(filepath.Join(f.home(), ".zeus/session-map/k-2.json"), `{"agentId":"k-2","sessionPath":"`+h+`","updatedAt":"2900-01-01T00:00:00Z"}`)
	f.expect(0, []string{"save", "--close", "--name", "both"}, "k-1 | kitty | saved | "+a, "k-2 | kitty | saved | "+h, "h-1 | hoplite | saved | "+h)
	f.expect(1, []string{"save"})

	f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *", "h-1 | hoplite | restored | *")
	want := "--session\n" + a + "\n" + f.work + "\nZEUS_AGENT_ID=k-1\nZEUS_AGENT_NAME=pomona\nZEUS_ROLE=polemarch\nZEUS_SESSION_PATH=" + a + "\n"
	if got := f.started("k-1"); got != want {
		t.Errorf("started so:\n%s", got)
	}
	f.expect(1, []string{"restore", name}, "k-1 | kitty | failed | *", "h-1 | hoplite | failed | *")
	f.write("moved.json", strings.ReplaceAll(snapshot, `"cwd": "`+f.work+`"`, `"cwd": "/none"`))
	o := f.expect(0, []string{"restore", "--if-running=replace", f.path("moved.json")}, "k-1 | kitty | restored | *", "h-1 | hoplite | restored | *")
	if got := f.started("k-1"); got != strings.Replace(want, f.work+"\nZEUS", f.home()+"\nZEUS", 1) || strings.Count(o.err, `its directory "/none" does not exist`) != 2 {
		t.Errorf("without their directory started again so:\n%s\n%s", got, o)
	}
	f.expect(0, []string{"save", "--close"}, "k-1 | kitty | saved | *", "h-1 | hoplite | saved | *")

	blind := *f
	blind.site = f.with("DISPLAY=:9999")
	o = blind.expect(1, []string{"restore", name}, "k-1 | kitty | failed | kitty ended: *", "h-1 | hoplite | restored | *")
	if !strings.Contains(o.err, "1 restored, 0 skipped, 1 failed") {
		t.Errorf("%s", o)
	}
	f.git("config", "domarkx.zeus.kitty", "unix:/nowhere")
	if o := f.try("", "git-domarkx", "zeus", "save"); o.code != 128 || !strings.Contains(o.err, "unix:/nowhere") {
		t.Errorf("%s", o)
	}
	f.git("config", "--unset", "domarkx.zeus.kitty")
	stale := *f
	stale.site = f.with("KITTY_LISTEN_ON=unix:/nowhere")
	stale.expect(1, []string{"restore", name}, "k-1 | kitty | skipped | *", "h-1 | hoplite | failed | runs already")
}

// TestZeusSway restores windows to their workspaces.
func TestZeusSway(t *testing.T) {
	needProgram(t, "sway", "kitty", "setpriv")
	f := newFleet(t)
	run, err := os.MkdirTemp("/tmp", "gdz-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	conf := filepath.Join(run, "config")
	if err := os.WriteFile(conf, []byte("xwayland disable\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"sway", "-c", conf}
	if os.Geteuid() == 0 { // sway does not run as root
		if err := os.Chown(run, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + run, "XDG_RUNTIME_DIR=" + run, "SWAYSOCK=" + run + "/sway.sock",
		"WLR_BACKENDS=headless", "WLR_RENDERER=pixman", "WLR_LIBINPUT_NO_DEVICES=1"}
	start(t, cmd)
	var display string
	eventually(t, "sway listens", func() bool {
		found, _ := filepath.Glob(run + "/wayland-?")
		_, err := os.Stat(run + "/sway.sock")
		if len(found) == 1 && err == nil {
			display = found[0]
		}
		return display != ""
	})
	f = f.windows("SWAYSOCK="+run+"/sway.sock", "WAYLAND_DISPLAY="+display, "XDG_RUNTIME_DIR="+run)
	f.write("conf/kitty.conf", f.read("conf/kitty.conf")+"linux_display_server wayland\n")
	t.Cleanup(func() { f.try("", "git-domarkx", "zeus", "save", "--close") })

	f.must("", "swaymsg", `workspace "DP-1:3"`)
	a := f.transcript("a.jsonl")
	f.kitty("k-1", "pomona", "ZEUS_SESSION_PATH="+a)
	where := func() string {
		f.domarkx("zeus", "save", "--close", "--name", "probe")
		names := strings.Fields(f.domarkx("zeus", "list"))
		_, rest, _ := strings.Cut(f.domarkx("export", "--format", "zeus", names[3]), `"workspace": "`)
		at, _, _ := strings.Cut(rest, `"`)
		return at
	}
	if at := where(); at != "DP-1:3" {
		t.Fatalf("saved on %q", at)
	}
	name := strings.Fields(f.domarkx("zeus", "list"))[3]
	f.must("", "swaymsg", "workspace 7")
	f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *")
	if at := where(); at != "DP-1:3" {
		t.Errorf("restored on %q", at)
	}
	f.must("", "swaymsg", "workspace 7")
	f.expect(0, []string{"restore", "--workspace-mode=current", name}, "k-1 | kitty | restored | *")
	if at := where(); at != "7" {
		t.Errorf("restored on %q, expected where the user is", at)
	}

	// A workspace name must not be run as a command.
	f.with(`GIT_EDITOR=sed -i 's|"workspace": .*|"workspace": "9; exec touch `+f.path("pwned")+`",|'`).domarkx("edit", name)
	o := f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *")
	if !strings.Contains(o.err, "warning") {
		t.Errorf("%s", o)
	}
	f.must("", "swaymsg", "nop") // answered after all earlier commands
	if _, err := os.Stat(f.path("pwned")); err == nil {
		t.Error("a command in the document was run")
	}
}
