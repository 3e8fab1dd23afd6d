// Package probe finds out whether the API server reaches podrank-webhook. The API server lets scale-downs through if it does not, so
// nothing else tells. The probe asks the API server for a dry run of a scale-down of podrank-webhook's own ReplicaSet. The answer has
// an admission warning if the question arrived at podrank-webhook.
//
// The right to scale is one to make dry runs: a ValidatingAdmissionPolicy refuses the rest.
//
// +kubebuilder:rbac:groups=apps,resources=replicasets/scale,verbs=patch,namespace=podrank-system
package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

const (
	// Warning is what podrank-webhook answers to a probe.
	Warning = "this dry run arrived at podrank-webhook"
	// Labels are those of podrank-webhook's ReplicaSets.
	Labels = "app.kubernetes.io/name=podrank-webhook"
	// longest is how long the API server may take for an answer.
	longest = 10 * time.Second
	// soon is when a probe follows one that did not arrive.
	soon = 5 * time.Second
)

// State is what a probe found out.
type State int

const (
	// Unknown is the state if there is no ReplicaSet that could lose a pod and keep another.
	Unknown State = iota
	// Unreached is the state if the API server did not reach podrank-webhook.
	Unreached
	// Reached is the state if it did.
	Reached
)

// A Probe runs on the leader.
type Probe struct {
	// Client asks the API server, and passes its warnings on.
	Client    kubernetes.Interface
	Namespace string
	Interval  time.Duration
	// Count counts the state after the first probe, and whenever it changes.
	Count  func(State)
	Log    logr.Logger
	warned bool
}

// New returns a probe of podrank-webhook in this namespace.
func New(config *rest.Config, namespace string, interval time.Duration, count func(State), log logr.Logger) *Probe {
	p := &Probe{Namespace: namespace, Interval: interval, Count: count, Log: log}
	config = rest.CopyConfig(config)
	config.WarningHandler, config.WarningHandlerWithContext = p, nil
	p.Client = kubernetes.NewForConfigOrDie(config)
	return p
}

// HandleWarningHeader notes the warning of podrank-webhook, whatever other warnings there are.
func (p *Probe) HandleWarningHeader(_ int, _, text string) { p.warned = p.warned || text == Warning }

// Run probes until the context ends, and calls use when Count is called, too. It asks again soon if the API server did
// not reach podrank-webhook: a server that starts has not read its configuration yet.
func (p *Probe) Run(ctx context.Context, use func(State)) {
	last := State(-1)
	for ctx.Err() == nil {
		state, err := p.Ask(ctx)
		pause := p.Interval
		if state == Unreached {
			pause = min(pause, soon)
		}
		if ctx.Err() == nil && state != last {
			p.Count(state)
			use(state)
			if last = state; state == Unreached {
				p.Log.Error(err, "the API server does not reach podrank-webhook, so scale-downs are not steered")
			} else {
				p.Log.Info("whether the API server reaches podrank-webhook has changed", "reached", state == Reached)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Ask probes once.
func (p *Probe) Ask(ctx context.Context) (State, error) {
	ctx, stop := context.WithTimeout(ctx, longest)
	defer stop()
	sets := p.Client.AppsV1().ReplicaSets(p.Namespace)
	list, err := sets.List(ctx, metav1.ListOptions{LabelSelector: Labels})
	if err != nil {
		return Unreached, fmt.Errorf("listing the ReplicaSets of podrank-webhook: %w", err)
	}
	// The API server only asks about one that still has a pod afterwards.
	i := slices.IndexFunc(list.Items, func(set appsv1.ReplicaSet) bool {
		owner := metav1.GetControllerOfNoCopy(&set)
		return owner != nil && owner.Kind == "Deployment" && ptr.Deref(set.Spec.Replicas, 1) > 1
	})
	if i < 0 {
		return Unknown, nil
	}
	own := &list.Items[i]
	p.warned = false
	_, err = sets.Patch(ctx, own.Name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, *own.Spec.Replicas-1),
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "scale")
	switch {
	case err != nil:
		return Unreached, fmt.Errorf("dry run of a scale-down of the ReplicaSet %s: %w", own.Name, err)
	case !p.warned:
		return Unreached, fmt.Errorf("the dry run of a scale-down of the ReplicaSet %s did not arrive at podrank-webhook", own.Name)
	}
	return Reached, nil
}
