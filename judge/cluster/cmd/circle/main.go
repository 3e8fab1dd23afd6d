// Circle shows on the real controller that Kubernetes' relation is not an order. It puts the same pods back into the etcd of
// a control plane, byte for byte and with their UIDs, restarts only kube-controller-manager, scales down, and counts the
// distinct sets of victims.
//
//	circle -podrank PROGRAM -part SCRIPT REPEATS
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/scene"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

const (
	pods, remaining = 30, 24
	manager         = "kube-controller-manager"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "circle:", err)
		os.Exit(1)
	}
}

type circle struct {
	plane   *control.Plane
	history *history.History
	podrank preview.Program
	part    string // the script that starts and stops parts
	space   string // the namespace
}

func run(ctx context.Context) error {
	podrank := flag.String("podrank", "kubectl-podrank", "the preview")
	part := flag.String("part", "part", "the script that stops and starts parts of a control plane")
	flag.Parse()
	repeats, err := strconv.Atoi(flag.Arg(0))
	if err != nil || repeats < 1 {
		return fmt.Errorf("want a number of repeats, got %q", flag.Arg(0))
	}
	plane, err := control.Connect()
	if err != nil {
		return err
	}
	h, err := history.Follow(ctx, plane)
	if err != nil {
		return err
	}
	if err := scene.CreateNodes(ctx, plane); err != nil {
		return err
	}
	rollout, err := scene.Rollout(ctx, plane, h, pods)
	if err != nil {
		return err
	}
	c := &circle{plane, h, preview.Program(*podrank), *part, rollout}
	return errors.Join(c.repeat(ctx, repeats), c.manager("start"))
}

func (c *circle) repeat(ctx context.Context, repeats int) error {
	if err := c.manager("stop"); err != nil {
		return err
	}
	stored, err := c.stored(ctx)
	if err != nil {
		return err
	}
	dump, err := preview.Get(ctx, c.plane.Kubeconfig, c.space)
	if err != nil {
		return err
	}
	real, ours := map[string]int{}, map[string]int{}
	var first *preview.Prediction
	for range repeats {
		prediction, total, err := c.predict(ctx, dump)
		if err != nil {
			return err
		}
		if first == nil {
			first = prediction
		}
		gone, err := c.scale(ctx)
		if err != nil {
			return err
		}
		if err := verdict.Compare(prediction, pods-remaining, gone); err != nil {
			return err
		}
		real[join(gone)]++
		ours[join(total)]++
		if err := c.putBack(ctx, stored); err != nil {
			return err
		}
	}
	fmt.Printf("%d pods, %d go, %d times the same pods:\n", pods, pods-remaining, repeats)
	fmt.Printf("kube-controller-manager takes %d distinct sets of pods\n", len(real))
	fmt.Printf("podrank's order gives         %d\n", len(ours))
	fmt.Printf("the preview says              %d certain, %d contested, %d safe: right all %d times\n",
		first.Count("delete"), first.Count("contested"), first.Count("keep"), repeats)
	return nil
}

// predict says what kube-controller-manager would do, and which pods podrank's own order takes.
func (c *circle) predict(ctx context.Context, dump *preview.Dump) (*preview.Prediction, []types.UID, error) {
	q := preview.Question{Dump: dump, Namespace: c.space, Set: "rs/web", Replicas: remaining, Now: time.Now(), Order: "kubernetes"}
	prediction, err1 := c.podrank.Ask(ctx, &q)
	q.Order = "total"
	total, err2 := c.podrank.Ask(ctx, &q)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	var gone []types.UID
	for _, pod := range total.Pods {
		if pod.Verdict == "delete" {
			gone = append(gone, pod.UID)
		}
	}
	return prediction, gone, nil
}

// scale lets a controller that has just started scale the set, and returns what went. The controller is left stopped.
func (c *circle) scale(ctx context.Context) ([]types.UID, error) {
	if err := c.patch(ctx, remaining); err != nil {
		return nil, err
	}
	c.history.ClearEvents(c.space)
	if err := c.manager("start"); err != nil {
		return nil, err
	}
	err := c.history.Await(ctx, c.space, "scaled", func(n *history.Namespace) bool { return n.IsSettled() })
	if err != nil {
		return nil, err
	}
	if err := c.manager("stop"); err != nil {
		return nil, err
	}
	var gone []types.UID
	c.history.Look(c.space, func(n *history.Namespace) {
		for _, pod := range n.Gone {
			gone = append(gone, pod.Pod.UID)
		}
	})
	return gone, nil
}

func (c *circle) patch(ctx context.Context, replicas int) error {
	_, err := c.plane.AppsV1().ReplicaSets(c.space).Patch(ctx, "web", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{}, "scale")
	if err != nil {
		return err
	}
	return c.history.Await(ctx, c.space, "scaled", func(n *history.Namespace) bool {
		for _, set := range n.Sets {
			return int(set.Replicas) == replicas
		}
		return false
	})
}

func (c *circle) prefixes() []string {
	return []string{control.PodKey(c.space, ""), "/registry/replicasets/" + c.space + "/"}
}

// stored is what etcd holds of the set and its pods.
func (c *circle) stored(ctx context.Context) (map[string]string, error) {
	stored := map[string]string{}
	for _, prefix := range c.prefixes() {
		got, err := c.plane.Store.Get(ctx, prefix, clientv3.WithPrefix())
		if err != nil {
			return nil, err
		}
		for _, kv := range got.Kvs {
			stored[string(kv.Key)] = string(kv.Value)
		}
	}
	return stored, nil
}

// putBack makes etcd hold just that again.
func (c *circle) putBack(ctx context.Context, stored map[string]string) error {
	now, err := c.stored(ctx)
	if err != nil {
		return err
	}
	var operations []clientv3.Op
	for key := range now {
		if _, known := stored[key]; !known {
			operations = append(operations, clientv3.OpDelete(key))
		}
	}
	for key, value := range stored {
		operations = append(operations, clientv3.OpPut(key, value))
	}
	if _, err := c.plane.Store.Txn(ctx).Then(operations...).Commit(); err != nil {
		return err
	}
	return c.history.Await(ctx, c.space, "put back", func(n *history.Namespace) bool {
		for uid, set := range n.Sets {
			return set.Replicas == pods && len(n.Active(uid)) == pods
		}
		return false
	})
}

// manager stops or starts kube-controller-manager.
func (c *circle) manager(what string) error {
	out, err := exec.Command(c.part, what, filepath.Dir(c.plane.Kubeconfig), manager).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot %s %s: %w: %s", what, manager, err, out)
	}
	return nil
}

func join(uids []types.UID) string {
	var texts []string
	for _, uid := range uids {
		texts = append(texts, string(uid))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}
