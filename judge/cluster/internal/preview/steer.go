package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/terminal"
)

// Steered is what `kubectl podrank scale` and `drop` print: the plan, and after a run what became of it.
type Steered struct {
	Pods []struct {
		Name   string    `json:"name"`
		UID    types.UID `json:"uid"`
		Wanted bool      `json:"wanted"`
	} `json:"pods"`
	Nodes []struct {
		Name         string `json:"name"`
		BecomesEmpty bool   `json:"becomesEmpty"`
	} `json:"nodes"`
	Steps   []string  `json:"steps"`
	Rollout bool      `json:"rollout"`
	Exit    *int      `json:"exit"`
	Went    []PodName `json:"went"`
	Missed  []PodName `json:"missed"`
	Others  []PodName `json:"others"`
	Left    []PodName `json:"left"`
	Message string    `json:"message"`
}

// PodName names a pod.
type PodName struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// WantedNames are the names of the pods that are to go.
func (s *Steered) WantedNames() map[string]bool {
	names := map[string]bool{}
	for _, pod := range s.Pods {
		if pod.Wanted {
			names[pod.Name] = true
		}
	}
	return names
}

// Wanted are the pods that are to go.
func (s *Steered) Wanted() []types.UID {
	var wanted []types.UID
	for _, pod := range s.Pods {
		if pod.Wanted {
			wanted = append(wanted, pod.UID)
		}
	}
	return wanted
}

// Ran is one run of kubectl-podrank.
type Ran struct {
	Exit           int            // -1 if a signal ended it
	Signal         syscall.Signal // 0 if none did
	Stdout, Stderr string
	Took           time.Duration
	Document       *Steered // nil if it printed none
}

// Run runs the program in a process group of its own, and gives it some text. An error says that it could not be run, or
// printed what is no document.
func (p Program) Run(ctx context.Context, environment []string, input string, arguments ...string) (*Ran, error) {
	command := p.Command(ctx, environment, arguments...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = 10 * time.Second // a watch may outlive a killed program and hold its output
	command.Stdin = strings.NewReader(input)
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	began := time.Now()
	err := command.Run()
	ran := &Ran{Took: time.Since(began), Stdout: out.String(), Stderr: messages.String()}
	if ctx.Err() != nil {
		return ran, fmt.Errorf("%v did not end: %w: %s", arguments, ctx.Err(), ran.Stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, err
	}
	ran.Exit = command.ProcessState.ExitCode()
	if status, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ran.Signal = status.Signal()
	}
	return ran, ran.ReadDocument()
}

// RunAt does the same at a terminal, and answers what it asks there.
func (p Program) RunAt(ctx context.Context, environment []string, answer func(int, *os.Process) string, arguments ...string) (*Ran, error) {
	at, err := terminal.Run(ctx, p.Command(ctx, environment, arguments...), answer)
	if at == nil {
		return nil, err
	}
	ran := &Ran{Exit: at.Exit, Signal: at.Signal, Stdout: at.Stdout, Stderr: at.Stderr, Took: at.Took}
	if err != nil {
		return ran, err
	}
	return ran, ran.ReadDocument()
}

// Command is the program with these variables besides those of this process.
func (p Program) Command(ctx context.Context, environment []string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, string(p), arguments...)
	command.Env = append(os.Environ(), environment...)
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		command.Env = append(command.Env, "KUBECACHEDIR="+control.CacheDir(kubeconfig))
	}
	return command
}

// ReadDocument reads what it printed, if that is a document. `undo` says it in words.
func (r *Ran) ReadDocument() error {
	if !strings.HasPrefix(r.Stdout, "{") {
		return nil
	}
	var document Steered
	if err := json.Unmarshal([]byte(r.Stdout), &document); err != nil {
		if r.Signal != 0 { // cut short
			return nil
		}
		return fmt.Errorf("it prints no document: %w: %s", err, r.Stdout)
	}
	r.Document = &document
	return nil
}
