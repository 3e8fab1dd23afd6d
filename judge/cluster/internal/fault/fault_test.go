package fault

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is the stand-in if a test runs it as $KUBECTL.
func TestMain(m *testing.M) {
	if IsStandIn() {
		StandIn()
	}
	os.Exit(m.Run())
}

// run lets a program call $KUBECTL three times, and returns what it and kubectl printed.
func run(t *testing.T, f Fault, meanwhile func(Calls)) (printed, done string, calls []Call, err error) {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	noted := Calls{dir}
	kubectl := "#!/bin/sh\necho \"$1\" >>" + filepath.Join(bin, "done") + "\necho did $1\n"
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(kubectl), 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("bash", "-c", `trap 'echo told; exit 7' INT TERM
for i in one two three; do "$KUBECTL" $i extra 2>&1 || echo failed $i; done`)
	command.Env = append(os.Environ(), append(noted.Environment(f), "PATH="+bin+":"+os.Getenv("PATH"))...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if meanwhile != nil {
		go meanwhile(noted)
	}
	out, err := command.Output()
	text, _ := os.ReadFile(filepath.Join(bin, "done")) // none if kubectl did not run
	return strings.Join(strings.Fields(string(out)), " "), strings.Join(strings.Fields(string(text)), " "), noted.List(), err
}

func TestFaults(t *testing.T) {
	for _, test := range []struct {
		f             Fault
		printed, done string
		status        int
	}{
		{Fault{}, "did one did two did three", "one two three", 0},
		{Fault{2, FailUndone, ""}, "did one stand-in for kubectl: connection refused (injected) failed two did three", "one three", 0},
		{Fault{2, FailDone, ""}, "did one stand-in for kubectl: the server did not answer in time (injected) failed two did three",
			"one two three", 0},
		{Fault{2, Terminate, After}, "did one did two told", "one two", 7},
		{Fault{2, Interrupt, During}, "did one did two told", "one two", 7},
		{Fault{3, Terminate, Before}, "did one did two did three told", "one two three", 7},
		{Fault{2, Kill, After}, "did one did two", "one two", -1},
		{Fault{4, Kill, After}, "did one did two did three", "one two three", 0},
	} {
		printed, done, calls, err := run(t, test.f, nil)
		status := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if printed != test.printed || done != test.done || status != test.status {
			t.Errorf("%s: %q, %q, %d", test.f, printed, done, status)
		}
		if len(calls) == 0 || calls[0].Arguments != "one extra" {
			t.Errorf("%s: %v", test.f, calls)
		}
	}
}

func TestHook(t *testing.T) {
	var before string
	printed, done, _, err := run(t, Fault{2, Hook, ""}, func(calls Calls) {
		for !calls.Reached(2) {
			time.Sleep(time.Millisecond)
		}
		before = "waited"
		calls.Release(2)
	})
	if err != nil || before == "" || printed != "did one did two did three" || done != "one two three" {
		t.Errorf("%q, %q, %q, %v", before, printed, done, err)
	}
}
