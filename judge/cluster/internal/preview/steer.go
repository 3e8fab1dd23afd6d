package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/terminal"
)

// Steered is what `kubectl podrank scale` and `drop` print: the plan, and after a run what became of it.
type Steered struct {
	Pods []struct {
		Name     string    `json:"name"`
		UID      types.UID `json:"uid"`
		Selected bool      `json:"selected"`
	} `json:"pods"`
	Nodes []struct {
		Name         string `json:"name"`
		BecomesEmpty bool   `json:"becomesEmpty"`
	} `json:"nodes"`
	Exit       *int      `json:"exit"`
	Deleted    []PodName `json:"deleted"`
	Missed     []PodName `json:"missed"`
	Unexpected []PodName `json:"unexpected"`
	Leftovers  []PodName `json:"leftovers"`
	Message    string    `json:"message"`
}

// PodName names a pod.
type PodName struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
}

// Selected returns the names of the selected pods.
func (s *Steered) Selected() map[string]bool {
	names := map[string]bool{}
	for _, pod := range s.Pods {
		if pod.Selected {
			names[pod.Name] = true
		}
	}
	return names
}

// Ran is one run of kubectl-podrank.
type Ran struct {
	terminal.Ran
	Document *Steered // nil if it printed none
}

// Run runs the program with these variables in addition to those of this process. If answer is given, it runs at a
// terminal, where answer replies to its questions. It returns an error if the program could not be run, or printed
// something that is not a document.
func (p Program) Run(ctx context.Context, environment []string, answer func(int, *os.Process) string,
	arguments ...string,
) (*Ran, error) {
	command := exec.CommandContext(ctx, string(p), arguments...)
	command.Env = append(os.Environ(), environment...)
	if kubeconfig := os.Getenv("KUBECONFIG"); kubeconfig != "" {
		command.Env = append(command.Env, "KUBECACHEDIR="+control.CacheDir(kubeconfig))
	}
	at, err := terminal.Run(ctx, command, answer)
	if at == nil {
		return nil, err
	}
	ran := &Ran{Ran: *at}
	if err != nil || !strings.HasPrefix(ran.Stdout, "{") { // `undo` says it in words
		return ran, err
	}
	var document Steered
	if err := json.Unmarshal([]byte(ran.Stdout), &document); err == nil {
		ran.Document = &document
	} else if ran.Signal == 0 { // else it was cut short
		return ran, fmt.Errorf("it prints no document: %w: %s", err, ran.Stdout)
	}
	return ran, nil
}
