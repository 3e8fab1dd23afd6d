package preview

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// DeploymentQuestion is what the preview is asked of the Deployment `web`: what does its next sync do?
type DeploymentQuestion struct {
	Dump  *Dump
	Count *int32 // what it is scaled to; nil if it keeps its count
	Now   time.Time
}

// Step is the preview's answer.
type Step struct {
	Path   string       `json:"path"`   // scale, roll, recreate, rollback or nothing
	GoesOn bool         `json:"goesOn"` // whether another sync follows at once
	Waits  bool         `json:"waits"`  // whether more syncs follow once pods are available or gone
	Sets   []*StepOfSet `json:"sets"`
}

// IsLast says whether no sync follows that changes a set.
func (s *Step) IsLast() bool { return !s.GoesOn && !s.Waits }

// StepOfSet is what becomes of one set.
type StepOfSet struct {
	ReplicaSet *string `json:"replicaSet"` // nil if the sync creates it
	From       int32   `json:"from"`
	To         int32   `json:"to"`
	Writes     []int32 `json:"writes"` // the counts that it gets in turn
	Prediction
}

// AskOfDeployment runs the preview.
func (p Program) AskOfDeployment(ctx context.Context, q *DeploymentQuestion) (*Step, error) {
	var step Step
	return &step, p.AskInto(ctx, List(q.Dump.Items), &step, q.arguments()...)
}

// CompareLive asks the same of the cluster itself, and says if the answer is not that about the dump.
func (p Program) CompareLive(ctx context.Context, kubeconfig, namespace string, q *DeploymentQuestion) error {
	arguments := append(q.arguments(), "-o", "json")
	// Of the cluster, it also reads who wrote the count and the costs.
	dump := Get(ctx, kubeconfig, namespace, "--show-managed-fields")
	ofDump, err := p.ask(ctx, List(dump.Items), arguments...)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, string(p), append(arguments, "--kubeconfig", kubeconfig, "-n", namespace)...)
	command.Env = append(os.Environ(), "KUBECACHEDIR="+control.CacheDir(kubeconfig))
	live, err := run(command)
	if err != nil {
		return err
	}
	if !bytes.Equal(live, ofDump) {
		return fmt.Errorf("the preview of the cluster is %s, and that of its dump %s", live, ofDump)
	}
	return nil
}

func (q *DeploymentQuestion) arguments() []string {
	goal := []string{"--rollout"}
	if q.Count != nil {
		goal = []string{"--replicas", fmt.Sprint(*q.Count)}
	}
	return append(goal, "deploy/web", "--next-step", "--now", q.Now.UTC().Format(time.RFC3339Nano))
}

// Resumed is the dump with no Deployment paused.
func (d *Dump) Resumed() *Dump {
	resumed := &Dump{slices.Clone(d.Items)}
	for i := range resumed.Items {
		if o := &resumed.Items[i]; o.Kind == "Deployment" {
			o.Raw = must.Get(jsonpatch.MergePatch(o.Raw, []byte(`{"spec":{"paused":null}}`)))
		}
	}
	return resumed
}
