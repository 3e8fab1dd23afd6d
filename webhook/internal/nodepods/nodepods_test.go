package nodepods_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/decide"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/nodepods"
)

func pod(name, node, kind string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
	pod.Spec.NodeName, pod.Status.Phase = node, corev1.PodRunning
	if kind != "" {
		is := true
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "set", UID: types.UID("uid-" + kind), Controller: &is}}
	}
	return pod
}

func of(api client.WithWatch) *nodepods.Pods { return nodepods.New(bounded.NewReader(api, 1), api) }

// It knows the pods that keep a node, as they come and go, once somebody wants to know.
func TestExcluding(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	api := fakeapi.New(pod("db-0", "a", "StatefulSet"), pod("bare", "a", ""), pod("agent", "a", "DaemonSet"), pod("mirror", "a", "Node"),
		pod("web-0", "b", "ReplicaSet"), pod("pending", "", "ReplicaSet"))
	// Unlike an API server, this one forgets what happens before it is watched.
	watched := make(chan struct{})
	pods := of(interceptor.NewClient(api, interceptor.Funcs{Watch: func(
		ctx context.Context, live client.WithWatch, list client.ObjectList, options ...client.ListOption,
	) (watch.Interface, error) {
		defer close(watched)
		return live.Watch(ctx, list, options...)
	}}))
	ended := make(chan error)
	go func() { ended <- pods.Start(ctx) }()
	must := func(err error) {
		t.Helper()
		fakeapi.Must(t, err)
	}
	is := func(want string) {
		t.Helper()
		var got string
		for range 200 {
			must(pods.Wait(ctx))
			others := pods.Excluding("uid-ReplicaSet")
			slices.SortFunc(others, func(a, b decide.NodePod) int { return strings.Compare(string(a.Set)+a.Node, string(b.Set)+b.Node) })
			if got = fmt.Sprint(others); got == want {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s, not %s", got, want)
	}
	is("[{a uid-StatefulSet} {a uid-bare}]")
	<-watched
	must(api.Create(ctx, pod("db-1", "b", "StatefulSet")))
	is("[{a uid-StatefulSet} {b uid-StatefulSet} {a uid-bare}]")
	must(api.Delete(ctx, pod("db-0", "a", "StatefulSet")))
	is("[{b uid-StatefulSet} {a uid-bare}]")
	over := pod("bare", "a", "")
	must(api.Get(ctx, fakeapi.Key("bare"), over))
	over.Status.Phase = corev1.PodSucceeded
	must(api.Status().Update(ctx, over))
	is("[{b uid-StatefulSet}]")
	stop()
	must(<-ended)
}

// A watch that ends or is refused continues where it was. Only if the API server no longer knows that version are all pods listed again.
func TestWatchContinues(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var lists atomic.Int64
	begun := make(chan string, 10)
	answers := make(chan *watch.FakeWatcher)
	pods := of(interceptor.NewClient(fakeapi.New(pod("db-0", "a", "StatefulSet")), interceptor.Funcs{
		List: func(ctx context.Context, live client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists.Add(1)
			return live.List(ctx, list, options...)
		},
		Watch: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			begun <- (&client.ListOptions{}).ApplyOptions(options).AsListOptions().ResourceVersion
			if answer := <-answers; answer != nil {
				return answer, nil
			}
			return nil, apierrors.NewTooManyRequests("later", 1)
		},
	}))
	pods.Need()
	ended := make(chan error)
	go func() { ended <- pods.Start(ctx) }()
	// next answers the next watch, and returns the version from which it begins.
	next := func(answer *watch.FakeWatcher) string {
		t.Helper()
		select {
		case version := <-begun:
			answers <- answer
			return version
		case <-time.After(30 * time.Second):
			t.Fatal("no watch")
		}
		return ""
	}
	ends := watch.NewFake()
	next(ends)
	bookmark := pod("", "", "")
	bookmark.ResourceVersion = "1000"
	ends.Action(watch.Bookmark, bookmark)
	ends.Stop()
	for _, refused := range []bool{true, false} {
		unknown := watch.NewFake()
		if refused {
			unknown = nil
		}
		if version := next(unknown); version != "1000" || lists.Load() != 1 {
			t.Errorf("watch from %q after %d lists", version, lists.Load())
		}
		if !refused {
			deleted := apierrors.NewResourceExpired("too old").Status()
			unknown.Error(&deleted)
		}
	}
	last := watch.NewFake()
	if version := next(last); version == "1000" || lists.Load() != 2 {
		t.Errorf("after an expired version: from %q after %d lists", version, lists.Load())
	}
	last.Delete(pod("db-0", "a", "StatefulSet"))
	for range 100 {
		if len(pods.Excluding("")) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if others := pods.Excluding(""); len(others) != 0 {
		t.Error(others)
	}
	stop()
	fakeapi.Must(t, <-ended)
}

// Who needs them before they are known waits, but not forever.
func TestNotKnownYet(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer stop()
	if err := of(fakeapi.New()).Wait(ctx); err == nil {
		t.Error("no error")
	}
}

// A replica is ready once it has seen the policies, and then the pods if one of these needs them. A policy that comes later changes nothing.
// Every replica answers requests, so every one has the pods.
func TestCheck(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	seen, notSeen := func() bool { return true }, func() bool { return false }
	unneeded := of(fakeapi.New())
	if unneeded.NeedLeaderElection() || unneeded.Check(notSeen) == nil || unneeded.Check(seen) != nil {
		t.Error("without a policy that needs pods, it is ready once it has seen the policies")
	}
	unneeded.Need()
	if err := unneeded.Check(seen); err != nil {
		t.Errorf("a later policy: %v", err)
	}
	pods := of(fakeapi.New(pod("db-0", "a", "StatefulSet")))
	pods.Need()
	if pods.Check(seen) == nil {
		t.Error("ready before it knows the pods")
	}
	go func() { _ = pods.Start(ctx) }()
	fakeapi.Must(t, pods.Wait(ctx))
	if err := pods.Check(seen); err != nil {
		t.Error(err)
	}
}
