// Package fault stands between kubectl-podrank and kubectl: it numbers the calls, and at some of them it lets something
// happen. The program under test runs it as $KUBECTL.
package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Interrupt  = "INT"
	Terminate  = "TERM"
	Kill       = "KILL"
	FailUndone = "FAIL-UNDONE" // kubectl is not run, and the call fails
	FailDone   = "FAIL-DONE"   // kubectl is run, and the call fails all the same
	Hook       = "HOOK"        // the harness does something and then lets the call go on
)

// When a signal or a hook comes. By default, a hook comes before the call.
const (
	Before = "before"
	After  = "after"
)

// The environment variables that turn a program into the stand-in.
const (
	dirVariable   = "STEER_CALLS"
	faultVariable = "STEER_FAULTS"
)

// A Fault happens at the Nth call of a kind. With N 0, there is none.
type Fault struct {
	N          int // from 1
	What, When string
	Kind       Kind // only calls of this kind are counted; all if it is empty
}

// Calls is a directory in which the calls of one run are noted.
type Calls struct{ Dir string }

// Environment is what the program under test has to be given so that it runs the stand-in, this same program.
func (c Calls) Environment(faults ...Fault) []string {
	return []string{"KUBECTL=" + must.Get(os.Executable()), dirVariable + "=" + c.Dir,
		faultVariable + "=" + string(must.Get(json.Marshal(faults)))}
}

// Call is one call of kubectl.
type Call struct {
	Arguments string
	Kind      Kind
	At        time.Time
	Began     time.Time // when kubectl started, after what a hook did; zero if it never did
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
		kind, arguments, _ := strings.Cut(string(text), "\n")
		call := Call{Arguments: arguments, Kind: Kind(kind), At: info.ModTime()}
		if info, err := os.Stat(c.file(n, begins)); err == nil {
			call.Began = info.ModTime()
		}
		calls = append(calls, call)
	}
	return calls
}

// Reached says whether the call of this fault, counted from 0, waits for Release.
func (c Calls) Reached(fault int) bool { return c.isNoted(fault, waits) }

// Release lets the call of a fault go on.
func (c Calls) Release(fault int) { c.note(fault, goes) }

const waits, goes, begins, input = ".waits", ".goes", ".begins", ".input"

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
	var faults []Fault
	must.Do(json.Unmarshal([]byte(os.Getenv(faultVariable)), &faults))
	n, kind := calls.next(os.Args[1:])
	program := must.Get(exec.LookPath("kubectl"))
	i := calls.find(faults, n, kind)
	if i < 0 {
		calls.become(n, program)
	}
	f := faults[i]
	switch {
	case f.What == Hook && f.When != After:
		calls.wait(i)
		calls.become(n, program)
	case f.What == FailUndone:
		must.Do(errors.New("connection refused (injected)"))
	case f.What == FailDone:
		command := exec.Command(program, os.Args[1:]...)
		command.Stdin = os.Stdin
		_ = command.Run() // its outcome is what gets lost
		must.Do(errors.New("the server did not answer in time (injected)"))
	case f.When == Before:
		send(f.What)
		calls.become(n, program)
	}
	return calls.accompany(n, i, f, program)
}

// find is the place of the fault for this call, or -1.
func (c Calls) find(faults []Fault, n int, kind Kind) int {
	same := 0
	for _, call := range c.List()[:n] {
		if call.Kind == kind {
			same++
		}
	}
	return slices.IndexFunc(faults, func(f Fault) bool {
		return f.N > 0 && (f.Kind == "" && f.N == n || f.Kind == kind && f.N == same)
	})
}

// wait lets the harness do something.
func (c Calls) wait(fault int) {
	for c.note(fault, waits); !c.isNoted(fault, goes); {
		time.Sleep(5 * time.Millisecond)
	}
}

// accompany runs kubectl, and causes a fault during the run or after it.
func (c Calls) accompany(n, i int, f Fault, program string) int {
	command := exec.Command(program, os.Args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c.note(n, begins)
	must.Do(command.Start())
	if f.What != Hook && isWatch(os.Args) {
		time.Sleep(60 * time.Millisecond)
		send(f.What)
		f.When = ""
	}
	err := command.Wait()
	switch {
	case f.What == Hook:
		c.wait(i)
	case f.When == After:
		send(f.What)
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		must.Do(err)
	}
	return command.ProcessState.ExitCode()
}

// next notes a call, and returns its number and its kind.
func (c Calls) next(arguments []string) (int, Kind) {
	file := must.Get(os.CreateTemp(c.Dir, "call-*"))
	defer os.Remove(file.Name())
	kind := kindOf(arguments, c.keepInput(arguments, file.Name()+input), slices.ContainsFunc(c.List(), func(call Call) bool { return call.Kind == Count }))
	must.Get(file.WriteString(string(kind) + "\n" + strings.Join(arguments, " ")))
	must.Do(file.Close())
	for n := 1; ; n++ { // a link is there with all of its text, or not at all
		if err := os.Link(file.Name(), c.file(n, "")); !errors.Is(err, os.ErrExist) {
			must.Do(err)
			return n, kind
		}
	}
}

// keepInput returns what a call reads, and has kubectl read it again from this file.
func (c Calls) keepInput(arguments []string, file string) string {
	if !slices.ContainsFunc(arguments, func(argument string) bool {
		return argument == "-" || argument == "--filename=-" || argument == "-f-"
	}) {
		return ""
	}
	text := must.Get(io.ReadAll(os.Stdin))
	must.Do(os.WriteFile(file, text, 0o644))
	must.Do(syscall.Dup2(int(must.Get(os.Open(file)).Fd()), 0))
	return string(text)
}

// become replaces this process by kubectl.
func (c Calls) become(n int, program string) {
	c.note(n, begins)
	must.Do(syscall.Exec(program, append([]string{"kubectl"}, os.Args[1:]...), os.Environ()))
}

// Signals are those that a program can get.
var Signals = map[string]syscall.Signal{Interrupt: syscall.SIGINT, Terminate: syscall.SIGTERM, Kill: syscall.SIGKILL}

// parent is the program under test.
var parent = os.Getppid()

// send sends the signal to the program under test, which is this one's parent, unless another signal has ended it.
func send(what string) {
	if os.Getppid() == parent {
		must.Do(syscall.Kill(parent, Signals[what]))
	}
}
