// Package crowd keeps a control plane busy: clients that create, change and delete pods in namespaces of their own as fast as
// they are answered, so that the controllers' watches lag.
package crowd

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/control"
)

// Namespaces returns the namespaces of this many clients.
func Namespaces(clients int) []string {
	var names []string
	for i := range clients {
		names = append(names, fmt.Sprintf("busy-%d", i))
	}
	return names
}

// Crowd is the clients at work.
type Crowd struct {
	plane    *control.Plane
	began    time.Time
	requests atomic.Int64
	failed   atomic.Int64
}

// Start sets the clients to work until the context ends.
func Start(ctx context.Context, plane *control.Plane, clients int) *Crowd {
	c := &Crowd{plane: plane, began: time.Now()}
	for _, name := range Namespaces(clients) {
		plane.Ensure(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		go c.work(ctx, name)
	}
	if clients > 0 {
		go c.compact(ctx)
	}
	return c
}

// Rate is how many requests a second were answered, and what share of them with an error.
func (c *Crowd) Rate() (perSecond, failed float64) {
	requests := float64(c.requests.Load())
	if requests == 0 {
		return 0, 0
	}
	return requests / time.Since(c.began).Seconds(), float64(c.failed.Load()) / requests
}

// work makes a few pods and changes them, over and over.
func (c *Crowd) work(ctx context.Context, namespace string) {
	const pods, changes = 8, 6
	client, now := c.plane.CoreV1().Pods(namespace), int64(0)
	count := func(err error) {
		c.requests.Add(1)
		if err != nil {
			c.failed.Add(1)
		}
	}
	for turn := 0; ctx.Err() == nil; turn++ {
		name := fmt.Sprintf("pod-%d", turn%pods)
		count(client.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
		_, err := client.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "busy"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}},
				SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/busy"}}},
		}, metav1.CreateOptions{})
		count(err)
		for change := range changes {
			text := strconv.Itoa(turn*changes + change)
			patch, subresources := `{"metadata":{"annotations":{"turn":"`+text+`"}}}`, []string(nil)
			if change%2 == 1 {
				patch, subresources = `{"status":{"message":"`+text+`"}}`, []string{"status"}
			}
			_, err := client.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
			count(err)
		}
	}
}

// compact drops revisions that are older than a minute: kube-apiserver would keep those of up to ten, and etcd stops when
// they fill its quota of 2 GB.
func (c *Crowd) compact(ctx context.Context) {
	var last int64
	for {
		got, err := c.plane.Store.Get(ctx, "compact", clientv3.WithCountOnly())
		if err == nil {
			if last > 0 {
				// If it fails, the next one does its work.
				_, _ = c.plane.Store.Compact(ctx, last)
			}
			last = got.Header.Revision
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Minute):
		}
	}
}
