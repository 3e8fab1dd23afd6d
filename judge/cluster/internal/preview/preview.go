// Package preview dumps a namespace with kubectl and asks the preview, the program under test, which pods will go.
package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Dump is what `kubectl get -o json` prints.
type Dump struct {
	Items []Object `json:"items"`
}

// Object is one object of a dump: what the judge looks at, and all of it as it was printed.
type Object struct {
	Head
	Raw json.RawMessage
}

// Head is the part of an object that the judge looks at.
type Head struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string     `json:"name"`
		UID       types.UID  `json:"uid"`
		Created   *time.Time `json:"creationTimestamp"`
		Deleted   *time.Time `json:"deletionTimestamp"`
		OwnerRefs []struct {
			UID        types.UID `json:"uid"`
			Controller bool      `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type string     `json:"type"`
			Time *time.Time `json:"lastTransitionTime"`
		} `json:"conditions"`
	} `json:"status"`
}

// UnmarshalJSON keeps the text too.
func (o *Object) UnmarshalJSON(text []byte) error {
	o.Raw = slices.Clone(text)
	return json.Unmarshal(text, &o.Head)
}

// MarshalJSON gives the text back.
func (o Object) MarshalJSON() ([]byte, error) { return o.Raw, nil }

// Owner is the UID of the object's controller, or empty.
func (o *Object) Owner() types.UID {
	for _, owner := range o.Metadata.OwnerRefs {
		if owner.Controller {
			return owner.UID
		}
	}
	return ""
}

// IsActivePod says whether a set counts it.
func (o *Object) IsActivePod() bool {
	return o.Kind == "Pod" && o.Metadata.Deleted == nil && o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed"
}

// Get dumps a namespace.
func Get(ctx context.Context, kubeconfig, namespace string) *Dump {
	var dump Dump
	GetInto(ctx, kubeconfig, namespace, "pods,replicasets,replicationcontrollers,deployments", &dump)
	return &dump
}

// GetInto dumps objects of a namespace into what JSON is decoded to.
func GetInto(ctx context.Context, kubeconfig, namespace, resources string, dump any) {
	command := exec.CommandContext(ctx, "kubectl", "--kubeconfig", kubeconfig, "--namespace", namespace, "--cache-dir",
		control.CacheDir(kubeconfig), "get", resources, "-o", "json")
	text := must.Get(run(command))
	must.Do(json.Unmarshal(text, dump))
}

// List is the text of objects as kubectl prints several.
func List(items any) []byte {
	return must.Get(json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}))
}

// Moments returns times between from and to such that at any time in between, each age of the dump is in the same
// bucket as at one of them. Ages change buckets when they reach a power of two, in nanoseconds.
func (d *Dump) Moments(from, to time.Time) []time.Time {
	var edges []time.Time
	edge := func(t *time.Time) {
		if t == nil {
			return
		}
		for exponent := range 63 {
			if at := t.Add(1 << exponent); at.After(from) && at.Before(to) {
				edges = append(edges, at)
			}
		}
	}
	for _, object := range d.Items {
		if object.Kind != "Pod" {
			continue
		}
		edge(object.Metadata.Created)
		for _, condition := range object.Status.Conditions {
			if condition.Type == "Ready" {
				edge(condition.Time)
			}
		}
	}
	slices.SortFunc(edges, time.Time.Compare)
	moments, last := []time.Time{}, from
	for _, at := range append(edges, to) {
		if half := at.Sub(last) / 2; half > 0 {
			moments = append(moments, last.Add(half))
		}
		last = at
	}
	if len(moments) == 0 {
		return []time.Time{from}
	}
	return moments
}

// Question is what the preview is asked: if this set is scaled to so many, which pods go?
type Question struct {
	Dump      *Dump
	Namespace string
	Set       string // as rs/NAME or rc/NAME
	Replicas  int32
	Now       time.Time
	Order     string // kubernetes or total
}

// Prediction is the preview's answer.
type Prediction struct {
	Deletions Bounds  `json:"deletions"`
	Groups    []Group `json:"groups"`
}

// Group is the pods of one set.
type Group struct {
	Pods []Pod `json:"pods"`
}

// Pods are those of all groups.
func (p *Prediction) Pods() (all []Pod) {
	for _, group := range p.Groups {
		all = append(all, group.Pods...)
	}
	return all
}

// Pod is the verdict about a pod.
type Pod struct {
	Name    string    `json:"name"`
	UID     types.UID `json:"uid"`
	Verdict string    `json:"verdict"` // deleted, possible or kept
}

// Count returns how many pods have a verdict.
func (p *Prediction) Count(verdict string) int {
	count := 0
	for _, pod := range p.Pods() {
		if pod.Verdict == verdict {
			count++
		}
	}
	return count
}

// Program is the path of kubectl-podrank.
type Program string

// Ask runs the preview. Dumps may lack pods that had been deleted by then.
func (p Program) Ask(ctx context.Context, q *Question) (*Prediction, error) {
	var prediction Prediction
	return &prediction, p.AskInto(ctx, List(q.Dump.Items), &prediction, q.Set, "-n", q.Namespace, "--replicas", fmt.Sprint(q.Replicas),
		"--now", q.Now.UTC().Format(time.RFC3339Nano), "--order", q.Order, "--partial")
}

// AskInto runs the preview on a list of objects, and decodes what it answers in JSON.
func (p Program) AskInto(ctx context.Context, list []byte, answer any, arguments ...string) error {
	command := exec.CommandContext(ctx, string(p), append(arguments, "-o", "json", "-f", "-")...)
	command.Stdin = bytes.NewReader(list)
	text, err := run(command)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

func run(command *exec.Cmd) ([]byte, error) {
	var errors bytes.Buffer
	command.Stderr = &errors
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", command.Path, err, bytes.TrimSpace(errors.Bytes()))
	}
	return out, nil
}
