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
func (c Calls) Environment(f Fault) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return []string{"KUBECTL=" + self, dirVariable + "=" + c.Dir,
		fmt.Sprintf("%s=%d %s %s", faultVariable, f.N, f.What, f.When)}, nil
}

// Call is one call of kubectl.
type Call struct {
	Arguments string
	At        time.Time
}

// List returns the calls in order.
func (c Calls) List() ([]Call, error) {
	var calls []Call
	for n := 1; ; n++ {
		file := filepath.Join(c.Dir, strconv.Itoa(n))
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			return calls, nil
		}
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		calls = append(calls, Call{string(text), info.ModTime()})
	}
}

// Reached says whether a call waits for Release.
func (c Calls) Reached(n int) bool {
	_, err := os.Stat(filepath.Join(c.Dir, strconv.Itoa(n)+".waits"))
	return err == nil
}

// Release lets a call that waits go on.
func (c Calls) Release(n int) error {
	return os.WriteFile(filepath.Join(c.Dir, strconv.Itoa(n)+".goes"), nil, 0o644)
}

// IsStandIn says whether this process is to be the stand-in.
func IsStandIn() bool { return os.Getenv(dirVariable) != "" }

// StandIn is kubectl, but for the fault. It does not return.
func StandIn() {
	runtime.LockOSThread() // kubectl dies with the thread that started it
	status, err := standIn(Calls{os.Getenv(dirVariable)})
	if err != nil {
		fmt.Fprintln(os.Stderr, "stand-in for kubectl:", err)
		status = 1
	}
	os.Exit(status)
}

func standIn(calls Calls) (int, error) {
	var f Fault
	if _, err := fmt.Sscan(os.Getenv(faultVariable), &f.N, &f.What); err != nil && f.N > 0 {
		return 0, err
	}
	if fields := strings.Fields(os.Getenv(faultVariable)); len(fields) > 2 {
		f.When = fields[2]
	}
	n, err := calls.next(strings.Join(os.Args[1:], " "))
	if err != nil {
		return 0, err
	}
	program, err := exec.LookPath("kubectl")
	if err != nil {
		return 0, err
	}
	if n != f.N {
		return 0, become(program)
	}
	switch f.What {
	case Hook:
		if err := os.WriteFile(filepath.Join(calls.Dir, strconv.Itoa(n)+".waits"), nil, 0o644); err != nil {
			return 0, err
		}
		for {
			if _, err := os.Stat(filepath.Join(calls.Dir, strconv.Itoa(n)+".goes")); err == nil {
				return 0, become(program)
			}
			time.Sleep(5 * time.Millisecond)
		}
	case FailUndone:
		return 0, errors.New("connection refused (injected)")
	case FailDone:
		command := exec.Command(program, os.Args[1:]...)
		command.Stdin = os.Stdin
		_ = command.Run() // its outcome is what gets lost
		return 0, errors.New("the server did not answer in time (injected)")
	}
	if f.When == Before {
		if err := send(f.What); err != nil {
			return 0, err
		}
		return 0, become(program)
	}
	command := exec.Command(program, os.Args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return 0, err
	}
	if f.When == During || slices.Contains(os.Args, "--watch") || slices.Contains(os.Args, "-w") {
		time.Sleep(60 * time.Millisecond)
		if err := send(f.What); err != nil {
			return 0, err
		}
		f.When = ""
	}
	err = command.Wait()
	if f.When == After {
		if err := send(f.What); err != nil {
			return 0, err
		}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return command.ProcessState.ExitCode(), nil
}

// next notes a call and returns its number.
func (c Calls) next(arguments string) (int, error) {
	for n := 1; ; n++ {
		file, err := os.OpenFile(filepath.Join(c.Dir, strconv.Itoa(n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		_, err = file.WriteString(arguments)
		return n, errors.Join(err, file.Close())
	}
}

func become(program string) error {
	return syscall.Exec(program, append([]string{"kubectl"}, os.Args[1:]...), os.Environ())
}

// send sends the signal to the program under test, which is this one's parent; to its whole group if all are to get it.
func send(what string) error {
	switch what {
	case Interrupt:
		return syscall.Kill(os.Getppid(), syscall.SIGINT)
	case Terminate:
		return syscall.Kill(os.Getppid(), syscall.SIGTERM)
	case Kill:
		return syscall.Kill(os.Getppid(), syscall.SIGKILL)
	case InterruptAll:
		group, err := syscall.Getpgid(os.Getppid())
		if err != nil {
			return err
		}
		return syscall.Kill(-group, syscall.SIGINT)
	}
	return fmt.Errorf("unknown fault %q", what)
}
