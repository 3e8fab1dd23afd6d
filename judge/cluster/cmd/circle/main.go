// Circle shows on the real controller that Kubernetes' relation is not an order. It puts the same pods back into the etcd of
// a control plane, byte for byte and with their UIDs, restarts only kube-controller-manager, scales down, and counts the
// distinct sets of victims.
//
// Given a second kube-controller-manager, which decides by podrank's own order, it lets the two decide in turns.
//
//	circle -podrank PROGRAM -part SCRIPT [-patched PROGRAM] REPEATS
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

const (
	pods, remaining = 30, 24
	manager         = "kube-controller-manager"
)

func main() { must.Main("circle", run) }

type circle struct {
	plane   *control.Plane
	history *history.History
	podrank preview.Program
	part    string // the script that starts and stops parts
	space   string // the namespace
}

func run(ctx context.Context) {
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	part := flag.String("part", "part", "the script that stops and starts parts of a control plane")
	patched := flag.String("patched", "", "a kube-controller-manager that decides by podrank's order, which takes turns with the other")
	flag.Parse()
	repeats, err := strconv.Atoi(flag.Arg(0))
	if err != nil || repeats < 1 {
		must.Do(fmt.Errorf("want a number of repeats, got %q", flag.Arg(0)))
	}
	plane := control.Connect()
	h := history.Follow(ctx, plane)
	scene.CreateNodes(ctx, plane)
	c := &circle{plane, h, preview.Program(*podrank), *part, scene.Rollout(ctx, plane, h, pods)}
	defer c.manager("start")
	c.repeat(ctx, repeats, *patched)
}

func (c *circle) repeat(ctx context.Context, repeats int, patched string) {
	c.manager("stop")
	stored := c.stored(ctx)
	dump := preview.Get(ctx, c.plane.Kubeconfig, c.space)
	real, ours, inside := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var prediction *preview.Prediction
	for range repeats {
		var total []types.UID
		prediction, total = c.predict(ctx, dump)
		gone := c.scale(ctx)
		must.Do(verdict.Compare(prediction, pods-remaining, gone))
		real[join(gone)], ours[join(total)] = true, true
		c.putBack(ctx, stored)
		if patched == "" {
			continue
		}
		own := c.run(patched)
		gone = c.scale(ctx)
		c.run(own)
		inside[join(gone)] = true
		if join(gone) != join(total) {
			must.Do(fmt.Errorf("the other controller takes %s, and podrank's order gives %s", join(gone), join(total)))
		}
		c.putBack(ctx, stored)
	}
	fmt.Printf("%d pods, %d go, %d times the same pods:\n", pods, pods-remaining, repeats)
	fmt.Printf("kube-controller-manager takes %d distinct sets of pods\n", len(real))
	if patched != "" {
		fmt.Printf("the other controller takes    %d, in turns with it: what --order total says all %d times\n", len(inside), repeats)
	}
	fmt.Printf("podrank's order gives         %d\n", len(ours))
	fmt.Printf("the preview says              %d certain, %d possible, %d safe: right all %d times\n",
		prediction.Count("deleted"), prediction.Count("possible"), prediction.Count("kept"), repeats)
}

// predict says what kube-controller-manager would do, and which pods podrank's own order takes.
func (c *circle) predict(ctx context.Context, dump *preview.Dump) (prediction *preview.Prediction, gone []types.UID) {
	q := preview.Question{Dump: dump, Namespace: c.space, Set: "rs/web", Replicas: remaining, Now: time.Now(), Order: "kubernetes"}
	prediction = must.Get(c.podrank.Ask(ctx, &q))
	q.Order = "total"
	for _, pod := range must.Get(c.podrank.Ask(ctx, &q)).Pods() {
		if pod.Verdict == "deleted" {
			gone = append(gone, pod.UID)
		}
	}
	return prediction, gone
}

// scale lets a controller that has just started scale the set, and returns the deleted pods. The controller remains
// stopped.
func (c *circle) scale(ctx context.Context) (gone []types.UID) {
	c.plane.Patch(ctx, "replicasets", c.space, "web", fmt.Sprintf(`{"spec":{"replicas":%d}}`, remaining), "scale")
	c.history.Await(ctx, c.space, "scaled", func(n *history.Namespace) bool {
		for _, set := range n.Sets {
			return set.Replicas == remaining
		}
		return false
	})
	c.history.ClearEvents(c.space)
	c.manager("start")
	c.history.Await(ctx, c.space, "scaled", (*history.Namespace).IsSettled)
	c.manager("stop")
	c.history.Look(c.space, func(n *history.Namespace) {
		for _, pod := range n.Gone {
			gone = append(gone, pod.Pod.UID)
		}
	})
	return gone
}

// stored is what etcd holds of the set and its pods.
func (c *circle) stored(ctx context.Context) map[string]string {
	stored := map[string]string{}
	for _, prefix := range []string{control.PodKey(c.space, ""), "/registry/replicasets/" + c.space + "/"} {
		for _, kv := range must.Get(c.plane.Store.Get(ctx, prefix, clientv3.WithPrefix())).Kvs {
			stored[string(kv.Key)] = string(kv.Value)
		}
	}
	return stored
}

// putBack makes etcd hold just that again.
func (c *circle) putBack(ctx context.Context, stored map[string]string) {
	var operations []clientv3.Op
	for key := range c.stored(ctx) {
		if _, known := stored[key]; !known {
			operations = append(operations, clientv3.OpDelete(key))
		}
	}
	for key, value := range stored {
		operations = append(operations, clientv3.OpPut(key, value))
	}
	must.Get(c.plane.Store.Txn(ctx).Then(operations...).Commit())
	c.history.Await(ctx, c.space, "put back", func(n *history.Namespace) bool {
		for uid, set := range n.Sets {
			return set.Replicas == pods && len(n.Active(uid)) == pods
		}
		return false
	})
}

// run makes the control plane run this program as kube-controller-manager when it is started again, and returns the one before it.
func (c *circle) run(program string) string {
	link := filepath.Join(filepath.Dir(c.plane.Kubeconfig), manager)
	before := must.Get(os.Readlink(link))
	must.Do(os.Remove(link))
	must.Do(os.Symlink(program, link))
	return before
}

// manager stops or starts kube-controller-manager.
func (c *circle) manager(what string) {
	out, err := exec.Command(c.part, what, filepath.Dir(c.plane.Kubeconfig), manager).CombinedOutput()
	if err != nil {
		must.Do(fmt.Errorf("cannot %s %s: %w: %s", what, manager, err, out))
	}
}

// join is the set of these UIDs as a text.
func join(uids []types.UID) string { return fmt.Sprint(slices.Sorted(slices.Values(uids))) }
