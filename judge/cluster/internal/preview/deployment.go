package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
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
	text, err := p.ask(ctx, q.Dump, q.arguments()...)
	if err != nil {
		return nil, err
	}
	var step Step
	return &step, json.Unmarshal(text, &step)
}

// CompareLive asks the same of the cluster itself, and says if the answer is not that about the dump.
func (p Program) CompareLive(ctx context.Context, kubeconfig, namespace string, q *DeploymentQuestion) error {
	ofDump, err := p.ask(ctx, q.Dump, q.arguments()...)
	if err != nil {
		return err
	}
	arguments := append(q.arguments(), "--kubeconfig", kubeconfig, "-n", namespace)
	command := exec.CommandContext(ctx, string(p), arguments...)
	command.Env = append(os.Environ(), "KUBECACHEDIR="+filepath.Join(filepath.Dir(kubeconfig), "kubectl"))
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
	return append(goal, "deploy/web", "--now", q.Now.UTC().Format(time.RFC3339Nano), "-o", "json")
}

// Resumed is the dump with no Deployment paused.
func (d *Dump) Resumed() (*Dump, error) {
	resumed := &Dump{slices.Clone(d.Items)}
	for i := range resumed.Items {
		o := &resumed.Items[i]
		if o.Kind != "Deployment" {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(o.Raw, &fields); err != nil {
			return nil, err
		}
		delete(fields["spec"].(map[string]any), "paused")
		text, err := json.Marshal(fields)
		if err != nil {
			return nil, err
		}
		o.Raw = text
	}
	return resumed, nil
}
