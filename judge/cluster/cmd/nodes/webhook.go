package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// lateError is that podrank-webhook did not steer, because its time was up.
type lateError string

func (e lateError) Error() string { return string(e) }

// setPolicy makes a policy for all sets of the namespace, and waits until the program has seen it, and all pods.
func (w *world) setPolicy(ctx context.Context) {
	first := "[]"
	if w.prefers {
		first = "[{nodes: {matchLabels: {lifecycle: spot}}}]"
	}
	policy := fmt.Sprintf(`apiVersion: podrank.dev/v1alpha1
kind: ScaleDownPolicy
metadata: {name: all, namespace: %s}
spec: {selector: {}, emptyNodes: true, first: %s}
`, w.namespace, first)
	must.Get(w.kubectl(ctx, policy, "apply", "--server-side", "--filename", "-"))
	must.Get(w.kubectl(ctx, "", "wait", "--for=condition=Accepted", "--timeout=30s", "scaledownpolicy/all"))
}

// scaleDown is one in the status of a policy.
type scaleDown struct {
	Name, Result, Message string
	To                    int
	Gone, Missed          *int
}

// scale lowers the count of a Deployment, and returns what the program says of it.
func (w *world) scale(ctx context.Context, name string, from, to int) (*document, error) {
	time.Sleep(500 * time.Millisecond) // until the program's watch has what the last scale-down left
	if _, err := w.kubectl(ctx, "", "scale", "deploy/"+name, fmt.Sprint("--replicas=", to)); err != nil {
		return nil, err
	}
	var found *scaleDown
	err := wait.PollUntilContextTimeout(ctx, time.Second, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		text, err := w.kubectl(ctx, "", "get", "scaledownpolicy/all", "--output=json")
		var policy struct {
			Status struct{ ScaleDowns []scaleDown }
		}
		if err != nil || json.Unmarshal(text, &policy) != nil {
			return false, err
		}
		for _, down := range policy.Status.ScaleDowns {
			if strings.HasPrefix(down.Name, name+"-") && down.To == to {
				found = &down
			}
		}
		pods := 0
		for _, pod := range w.pods(ctx) {
			if pod.Labels["app"] == name {
				pods++
			}
		}
		return pods == to && found != nil && (found.Gone != nil || found.Result == "DeadlineExceeded"), nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("from %d to %d: %w; the policy says %+v", from, to, err, found)
	case found.Result == "DeadlineExceeded" || found.Result == "Unconfirmed":
		return nil, lateError(found.Result + ": " + found.Message)
	case found.Result != "Steered":
		return nil, fmt.Errorf("%s: %s", found.Result, found.Message)
	}
	return &document{Missed: make([]preview.PodName, *found.Missed)}, nil
}

// kubectl runs kubectl in the namespace.
func (w *world) kubectl(ctx context.Context, stdin string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "kubectl", append([]string{"--namespace", w.namespace}, arguments...)...)
	command.Stdin = strings.NewReader(stdin)
	var problems strings.Builder
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, problems.String())
	}
	return out, err
}
