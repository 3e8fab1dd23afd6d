// Package terminal runs programs, also at a terminal, where it answers what they ask.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// Ran is a run that has ended.
type Ran struct {
	Exit           int            // -1 if a signal ended it
	Signal         syscall.Signal // 0 if none did
	Stdout, Stderr string         // Stderr with the answers, without what only moves the cursor
	Took           time.Duration
}

// question is how a program asks.
const question = "[y/N] "

// patience is how long a program that was left behind may keep the terminal once the run has ended.
const patience = 2 * time.Second

// Run runs a command in a session of its own until it ends. With answer, it is at a terminal: at each question, counted from 1, Run calls
// answer, and types what that returns. An error says that it could not be run or did not end.
func Run(ctx context.Context, command *exec.Cmd, answer func(n int, process *os.Process) string) (*Ran, error) {
	var stdout, stderr strings.Builder
	command.Stdout, command.Stderr = &stdout, &stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second // a watch may outlive a killed program and hold its output
	began, shown := time.Now(), stderr.String
	var err error
	if answer == nil {
		err = command.Run()
	} else {
		shown, err = atTerminal(command, answer)
	}
	if command.ProcessState == nil {
		return nil, err
	}
	ran := &Ran{Stdout: stdout.String(), Stderr: shown(), Took: time.Since(began), Exit: command.ProcessState.ExitCode()}
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ran.Signal = status.Signal()
	}
	if ctx.Err() != nil {
		return ran, fmt.Errorf("%v did not end: %w: %s", command.Args, ctx.Err(), ran.Stderr)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, err
	}
	return ran, nil
}

// atTerminal returns what the terminal has shown, and what waiting for the command came to.
func atTerminal(command *exec.Cmd, answer func(int, *os.Process) string) (func() string, error) {
	master, slave, err := pty.Open()
	if err != nil {
		return nil, err
	}
	defer master.Close()
	err = pty.Setsize(master, &pty.Winsize{Rows: 50, Cols: 1000})
	command.Stdin, command.Stderr, command.SysProcAttr.Setctty = slave, slave, true
	if err == nil {
		err = command.Start()
	}
	slave.Close()
	if err != nil {
		return nil, err
	}
	s := &screen{closed: make(chan struct{})}
	go s.read(master)
	ended := make(chan struct{})
	var answering sync.WaitGroup
	answering.Go(func() { s.answer(master, command.Process, ended, answer) })
	err = command.Wait()
	close(ended)
	answering.Wait()
	select {
	case <-s.closed:
	case <-time.After(patience):
	}
	return s.text, err
}

// screen is what the terminal has shown.
type screen struct {
	mutex  sync.Mutex
	shown  strings.Builder
	closed chan struct{} // once all who had the terminal have closed it, and all that they wrote was read
}

func (s *screen) read(master *os.File) {
	defer close(s.closed)
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		s.mutex.Lock()
		s.shown.Write(buffer[:n])
		s.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// answer types an answer for each question until the program has ended.
func (s *screen) answer(master *os.File, process *os.Process, ended <-chan struct{}, answer func(int, *os.Process) string) {
	for n := 1; ; {
		if strings.Count(s.text(), question) >= n {
			if text := answer(n, process); text != "" {
				_, _ = master.WriteString(text) // the program may be gone
			}
			n++
			continue
		}
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// moves are what moves the cursor and colours text.
var moves = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// text is what has been shown, line by line.
func (s *screen) text() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	text := moves.ReplaceAllString(s.shown.String(), "")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
