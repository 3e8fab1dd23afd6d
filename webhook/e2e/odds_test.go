//go:build controlplane

package e2e

import (
	"encoding/json"
	"flag"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/webhook/internal/decide"
)

var (
	oddsTo  = flag.String("odds", "", "file to which TestRounds appends what was predicted in each round that only one fall decides, for the program calibration")
	restart = flag.Int("restart", 0, "rounds of TestRounds after which kube-controller-manager is restarted; 0: never")
)

// drawn is a scale-down that nobody steered, as bench/src/calibration.rs reads it.
type drawn struct {
	Round    int                   `json:"round"`
	Set      string                `json:"set"`
	Replicas int                   `json:"replicas"`
	Now      time.Time             `json:"now"`
	Victims  []types.UID           `json:"victims"`
	Odds     map[types.UID]float64 `json:"odds"`
	Items    []json.RawMessage     `json:"items"`
}

// draw appends what decide predicts of the pods as they were at the moment of the request, and which of them went.
func (l *line) draw(w *World, before []*corev1.Pod, objects []json.RawMessage) {
	calls := w.Proxy.Calls(w.Namespace)
	if *oddsTo == "" || l.Way == "rollout" || len(calls) == 0 {
		return
	}
	// The API server asks again about a request that came too late.
	owner, now := metav1.GetControllerOf(before[0]), calls[len(calls)-1].At.UTC()
	d := &drawn{Round: l.Round, Set: "rs/" + owner.Name, Replicas: l.To, Now: now, Items: objects, Odds: map[types.UID]float64{}}
	related := before
	if owner.Kind == "ReplicationController" {
		d.Set = "rc/" + owner.Name
	}
	if strings.HasPrefix(l.Way, "replicasets/") || owner.Kind == "ReplicationController" {
		// Kubernetes counts no ranks for a set without controller.
		related = nil
	}
	prediction, err := decide.Predict(before, related, l.Pods-l.To, now)
	w.must(err)
	for _, chance := range prediction.Chances {
		d.Odds[chance.Pod] = chance.Share
	}
	for _, pod := range w.Went() {
		d.Victims = append(d.Victims, pod.UID)
	}
	text, err := json.Marshal(d)
	w.must(err)
	appendLine(w, *oddsTo, text)
}
