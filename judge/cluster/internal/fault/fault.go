// Package fault stands between kubectl-podrank and kubectl: it numbers the calls, and at one of them it lets something
// happen. The program under test runs it as $KUBECTL.
package fault

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// What can happen at a call.
const (
	Interrupt    = "INT"
	Terminate    = "TERM"
	Kill         = "KILL"
	InterruptAll = "INT-ALL"     // as Ctrl-C at a terminal: all processes of its group get it
	FailUndone   = "FAIL-UNDONE" // kubectl is not run, and the call fails
	FailDone     = "FAIL-DONE"   // kubectl is run, and the call fails all the same
	Hook         = "HOOK"        // the harness does something and then lets the call go on
)

// When a signal comes.
const (
	Before = "before"
	During = "during"
	After  = "after"
)

// The environment variables that turn a program into the stand-in.
const (
	dirVariable   = "STEER_CALLS"
	faultVariable = "STEER_FAULT"
)

// Fault is what happens at which call; with N 0, nothing does.
type Fault struct {
	N          int // from 1
	What, When string
}

func (f Fault) String() string {
	if f.N == 0 {
		return "none"
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s at call %d", f.What, f.When, f.N)), " ")
}

// Calls is a directory in which the calls of one run are noted.
type Calls struct{ Dir string }

// Environment is what the program under test has to be given so that it runs the stand-in, this same program.
func (c Calls) Environment(f Fault) []string {
	return []string{"KUBECTL=" + must.Get(os.Executable()), dirVariable + "=" + c.Dir,
		fmt.Sprintf("%s=%d %s %s", faultVariable, f.N, f.What, f.When)}
}

// Call is one call of kubectl.
type Call struct {
	Arguments string
	At        time.Time
}

// file is where something about a call is noted.
func (c Calls) file(n int, suffix string) string { return filepath.Join(c.Dir, strconv.Itoa(n)+suffix) }

func (c Calls) note(n int, suffix string) { must.Do(os.WriteFile(c.file(n, suffix), nil, 0o644)) }

func (c Calls) isNoted(n int, suffix string) bool {
	_, err := os.Stat(c.file(n, suffix))
	return err == nil
}

// List returns the calls in order.
func (c Calls) List() (calls []Call) {
	for n := 1; c.isNoted(n, ""); n++ {
		text, info := must.Get(os.ReadFile(c.file(n, ""))), must.Get(os.Stat(c.file(n, "")))
		calls = append(calls, Call{string(text), info.ModTime()})
	}
	return calls
}

// Reached says whether a call waits for Release.
func (c Calls) Reached(n int) bool { return c.isNoted(n, waits) }

// Release lets a call that waits go on.
func (c Calls) Release(n int) { c.note(n, goes) }

const waits, goes = ".waits", ".goes"

// IsStandIn says whether this process is to be the stand-in.
func IsStandIn() bool { return os.Getenv(dirVariable) != "" }

// StandIn is kubectl, but for the fault. It does not return.
func StandIn() {
	runtime.LockOSThread() // kubectl dies with the thread that started it
	var status int
	if err := must.Try(func() { status = standIn(Calls{os.Getenv(dirVariable)}) }); err != nil {
		fmt.Fprintln(os.Stderr, "stand-in for kubectl:", err)
		status = 1
	}
	os.Exit(status)
}

func standIn(calls Calls) int {
	var f Fault
	if _, err := fmt.Sscan(os.Getenv(faultVariable), &f.N, &f.What); f.N > 0 {
		must.Do(err)
	}
	if fields := strings.Fields(os.Getenv(faultVariable)); len(fields) > 2 {
		f.When = fields[2]
	}
	n := calls.next(strings.Join(os.Args[1:], " "))
	program := must.Get(exec.LookPath("kubectl"))
	if n != f.N {
		become(program)
	}
	switch f.What {
	case Hook:
		for calls.note(n, waits); !calls.isNoted(n, goes); {
			time.Sleep(5 * time.Millisecond)
		}
		become(program)
	case FailUndone:
		must.Do(errors.New("connection refused (injected)"))
	case FailDone:
		command := exec.Command(program, os.Args[1:]...)
		command.Stdin = os.Stdin
		_ = command.Run() // its outcome is what gets lost
		must.Do(errors.New("the server did not answer in time (injected)"))
	}
	if f.When == Before {
		send(f.What)
		become(program)
	}
	command := exec.Command(program, os.Args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.Do(command.Start())
	if f.When == During || slices.Contains(os.Args, "--watch") || slices.Contains(os.Args, "-w") {
		time.Sleep(60 * time.Millisecond)
		send(f.What)
		f.When = ""
	}
	err := command.Wait()
	if f.When == After {
		send(f.What)
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		must.Do(err)
	}
	return command.ProcessState.ExitCode()
}

// next notes a call and returns its number.
func (c Calls) next(arguments string) int {
	for n := 1; ; n++ {
		file, err := os.OpenFile(c.file(n, ""), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		must.Do(err)
		must.Get(file.WriteString(arguments))
		must.Do(file.Close())
		return n
	}
}

// become replaces this process.
func become(program string) {
	must.Do(syscall.Exec(program, append([]string{"kubectl"}, os.Args[1:]...), os.Environ()))
}

// send sends the signal to the program under test, which is this one's parent; to its whole group if all are to get it.
func send(what string) {
	signal, known := map[string]syscall.Signal{
		Interrupt: syscall.SIGINT, Terminate: syscall.SIGTERM, Kill: syscall.SIGKILL, InterruptAll: syscall.SIGINT,
	}[what]
	if !known {
		must.Do(fmt.Errorf("unknown fault %q", what))
	}
	to := os.Getppid()
	if what == InterruptAll {
		to = -must.Get(syscall.Getpgid(to))
	}
	must.Do(syscall.Kill(to, signal))
}
