package cost_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

var steered = cost.Steered{Set: fakeapi.UID(1, 0), Count: 1, Request: fakeapi.UID(5, 0)}

// hanging is an API server that answers nothing about pods except the first until its end, and writes and undos for all.
func hanging(t *testing.T) (writer *cost.Writer, writes []cost.Write, undos []cost.Undo) {
	t.Helper()
	_, _, pods := fakeapi.Shop(40)
	for _, pod := range pods {
		pod.Annotations = map[string]string{cost.Annotation: steered.String()}
		fakeapi.Manage(pod, cost.Manager, cost.Annotation)
		writes = append(writes, cost.Write{Pod: cost.PodOf(pod), Cost: new(int32(-1)), Steered: steered})
		undos = append(undos, cost.Undo{Pod: cost.PodOf(pod), Steered: steered})
	}
	api, end := fakeapi.New(fakeapi.All(pods)...), make(chan struct{})
	t.Cleanup(func() { close(end) })
	slow := interceptor.NewClient(api, interceptor.Funcs{Patch: func(
		ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
	) error {
		if _, ok := ctx.Deadline(); !ok {
			t.Errorf("%s may take forever", object.GetName())
		}
		if object.GetName() != "web-0" {
			<-end
		}
		return to.Patch(ctx, object, patch, options...)
	}})
	return cost.NewWriter(slow, api), writes, undos
}

// A write that waits for other writes ends with its context.
func TestWriteInTime(t *testing.T) {
	writer, writes, _ := hanging(t)
	slow, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	go writer.Write(slow, writes[1:])
	time.Sleep(50 * time.Millisecond)
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	answer := make(chan error)
	go func() { answer <- writer.Write(ctx, writes[:1])[0] }()
	select {
	case err := <-answer:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: it did not wait, so this shows nothing", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it waits")
	}
}

// Nobody waits for costs that are removed. Each of these has a deadline of its own.
func TestWriteDuringRemove(t *testing.T) {
	writer, writes, undos := hanging(t)
	go writer.Remove(context.Background(), undos[1:])
	time.Sleep(50 * time.Millisecond)
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	if err := writer.Write(ctx, writes[:1])[0]; err != nil {
		t.Error(err)
	}
}

// The cost that was overwritten is its writer's again, also if it is the same number.
func TestRestore(t *testing.T) {
	for _, value := range []string{"5", "-1", "0"} {
		_, _, pods := fakeapi.Shop(1)
		pod := pods[0]
		api := fakeapi.New(pod)
		writer, which := cost.NewWriter(api, api), cost.PodOf(pod)
		fakeapi.Must(t, writer.Write(context.Background(), []cost.Write{
			{Pod: which, Cost: new(int32(-1)), Steered: steered, Previous: &cost.Previous{Value: value, Manager: "karpenter"}},
		})[0])
		fakeapi.Must(t, writer.Remove(context.Background(), []cost.Undo{{Pod: which, Steered: steered}})[0])
		now := fakeapi.Read[corev1.Pod](t, api, pod.Name)
		_, isSteered := now.Annotations[cost.Annotation]
		_, isNoted := now.Annotations[cost.PreviousAnnotation]
		if got := now.Annotations[corev1.PodDeletionCost] + " " + cost.WriterOf(now); got != value+" karpenter" || isSteered || isNoted {
			t.Errorf("%s: %v by %q", value, now.Annotations, cost.WriterOf(now))
		}
	}
}

// A cost that somebody writes just before another one would come back is left alone.
func TestRestoreInTime(t *testing.T) {
	_, _, pods := fakeapi.Shop(1)
	api := fakeapi.New(pods[0])
	writer, which := cost.NewWriter(api, api), cost.PodOf(pods[0])
	fakeapi.Must(t, writer.Write(context.Background(), []cost.Write{
		{Pod: which, Cost: new(int32(-1)), Steered: steered, Previous: &cost.Previous{Value: "5", Manager: "karpenter"}},
	})[0])
	isFirst := true
	api.Before = func(*fakeapi.Write) error {
		if !isFirst {
			return nil
		}
		isFirst = false
		now := fakeapi.Read[corev1.Pod](t, api, which.Key.Name)
		now.Annotations[corev1.PodDeletionCost] = "9"
		return api.Update(context.Background(), now, client.FieldOwner("somebody"))
	}
	fakeapi.Must(t, writer.Remove(context.Background(), []cost.Undo{{Pod: which, Steered: steered}})[0])
	now := fakeapi.Read[corev1.Pod](t, api, which.Key.Name)
	if len(now.Annotations) != 1 || now.Annotations[corev1.PodDeletionCost] != "9" || cost.WriterOf(now) != "somebody" {
		t.Errorf("%v by %q", now.Annotations, cost.WriterOf(now))
	}
}

// A pod that changes all the time keeps its cost, and that is an error.
func TestRemoveEnds(t *testing.T) {
	_, _, pods := fakeapi.Shop(1)
	pod := pods[0]
	pod.Annotations = map[string]string{cost.Annotation: steered.String()}
	fakeapi.Manage(pod, cost.Manager, cost.Annotation)
	api := fakeapi.New(pod)
	changes := 0
	api.Before = func(*fakeapi.Write) error {
		changes++
		now := fakeapi.Read[corev1.Pod](t, api, pod.Name)
		now.Labels = map[string]string{"change": fmt.Sprint(changes)}
		return api.Update(context.Background(), now)
	}
	err := cost.NewWriter(api, api).Remove(context.Background(), []cost.Undo{{Pod: cost.PodOf(pod), Steered: steered}})[0]
	if err == nil || errors.Is(err, cost.ErrChanged) || changes < 2 {
		t.Errorf("after %d changes: %v", changes, err)
	}
}
