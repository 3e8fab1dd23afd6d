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
		{Fault{N: 1, What: FailUndone, Kind: Write}, "did one did two did three", "one two three", 0},
		{Fault{N: 2, What: FailUndone, Kind: Other}, "did one stand-in for kubectl: connection refused (injected) failed two did three", "one three", 0},
		{Fault{N: 2, What: FailDone}, "did one stand-in for kubectl: the server did not answer in time (injected) failed two did three",
			"one two three", 0},
		{Fault{N: 2, What: Interrupt, When: After}, "did one did two told", "one two", 7},
		{Fault{N: 3, What: Terminate, When: Before}, "did one did two did three told", "one two three", 7},
		{Fault{N: 2, What: Kill, When: After}, "did one did two", "one two", -1},
	} {
		printed, done, calls, err := run(t, test.f, nil)
		status := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			status = exit.ExitCode()
		}
		if printed != test.printed || done != test.done || status != test.status {
			t.Errorf("%+v: %q, %q, %d", test.f, printed, done, status)
		}
		if len(calls) == 0 || calls[0].Arguments != "one extra" {
			t.Errorf("%+v: %v", test.f, calls)
		}
	}
}

func TestHook(t *testing.T) {
	for _, when := range []string{Before, After} {
		var happened string
		printed, done, _, err := run(t, Fault{N: 2, What: Hook, When: when}, func(calls Calls) {
			for !calls.Reached(0) {
				time.Sleep(time.Millisecond)
			}
			happened = "waited"
			calls.Release(0)
		})
		if err != nil || happened == "" || printed != "did one did two did three" || done != "one two three" {
			t.Errorf("%s: %q, %q, %q, %v", when, happened, printed, done, err)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, test := range []struct {
		words, input string
		scaled       bool
		kind         Kind
	}{
		{"get pods --output json", "", false, Read},
		{"get pods --output json", "", true, Look},
		{"get --raw /api/v1/namespaces/n/pods?watch=1", "", false, Watch},
		{"scale deploy/web --replicas=1", "", false, Count},
		{"scale deploy/web --replicas=1 --dry-run=server", "", false, Check},
		{"apply --server-side --filename -", "{}", false, Write},
		{"create --filename -", `{"kind":"ReplicaSet","metadata":{"labels":{"podrank.dev/barrier":"x"}}}`, false, Barrier},
		{"create --filename -", `{"kind":"Lease"}`, false, Create},
		{"replace --filename -", `{"kind":"Lease"}`, true, Lock},
		{"get leases podrank-1", "", true, Lock},
		{"delete replicaset podrank-barrier-1", "", false, Remove},
		{"auth can-i patch pods", "", false, Check},
		{"version", "", false, Other},
	} {
		if kind := kindOf(strings.Fields(test.words), test.input, test.scaled); kind != test.kind {
			t.Errorf("%s: %s, not %s", test.words, kind, test.kind)
		}
	}
}
