// Kubelet stands in for kubelet on all nodes: it makes bound pods ready, and removes terminating ones, each after a delay
// of 0 to 2 s that a seed and the pod's name decide.
//
//	kubelet KUBECONFIG SEED
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

const (
	most = 2 * time.Second
	// mostToStop is for the containers of a pod that terminates, if a finalizer keeps it from being removed.
	mostToStop = 30 * time.Second
)

type kubelet struct {
	client kubernetes.Interface
	seed   string
	begun  sync.Map // what has been begun, by UID
}

func main() { must.Main("kubelet", run) }

func run(ctx context.Context) {
	if len(os.Args) != 3 {
		must.Do(errors.New("usage: kubelet KUBECONFIG SEED"))
	}
	config := must.Get(clientcmd.BuildConfigFromFlags("", os.Args[1]))
	config.QPS = -1 // no limit
	k := &kubelet{client: must.Get(kubernetes.NewForConfig(config)), seed: os.Args[2]}
	// Only bound pods, as kubelet asks for those of its node.
	factory := informers.NewSharedInformerFactoryWithOptions(k.client, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = "spec.nodeName!=" }))
	pods := factory.Core().V1().Pods().Informer()
	must.Get(pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(pod any) { k.look(ctx, pod.(*corev1.Pod)) },
		UpdateFunc: func(_, pod any) { k.look(ctx, pod.(*corev1.Pod)) },
		DeleteFunc: k.forget,
	}))
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		must.Do(ctx.Err())
	}
	fmt.Println("watching pods")
	<-ctx.Done()
}

// look begins what the pod needs, once.
func (k *kubelet) look(ctx context.Context, pod *corev1.Pod) {
	switch {
	case pod.Spec.NodeName == "":
	case pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0:
		k.later(ctx, pod, "stop", k.stop)
	case pod.DeletionTimestamp != nil:
		k.later(ctx, pod, "remove", k.remove)
	case pod.Status.Phase == corev1.PodPending:
		k.later(ctx, pod, "run", k.run)
	}
}

func (k *kubelet) forget(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	uid := object.(*corev1.Pod).UID
	k.begun.Delete("run " + string(uid))
	k.begun.Delete("stop " + string(uid))
	k.begun.Delete("remove " + string(uid))
}

func (k *kubelet) later(ctx context.Context, pod *corev1.Pod, what string, do func(context.Context, *corev1.Pod) error) {
	key := what + " " + string(pod.UID)
	if _, begun := k.begun.LoadOrStore(key, true); begun {
		return
	}
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %s %s/%s", k.seed, what, pod.Namespace, pod.Name)
	longest := most
	if what == "stop" {
		longest = mostToStop
	}
	time.AfterFunc(time.Duration(hash.Sum64()%uint64(longest)), func() {
		if err := do(ctx, pod); err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			fmt.Fprintf(os.Stderr, "cannot %s %s/%s: %v\n", what, pod.Namespace, pod.Name, err)
			k.begun.Delete(key)
			k.later(ctx, pod, what, do)
		}
	})
}

// run makes a pod ready.
func (k *kubelet) run(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.Now()
	status := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &now}
	for _, kind := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady,
	} {
		status.Conditions = append(status.Conditions,
			corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, container := range pod.Spec.Containers {
		started := true
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	patch := must.Get(json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status}))
	_, err := k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// stop says that a pod that terminates is not ready any more, as its containers have stopped.
func (k *kubelet) stop(ctx context.Context, pod *corev1.Pod) error {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q},"status":{"conditions":[{"type":"Ready","status":"False","reason":"PodFailed","lastTransitionTime":%q}]}}`,
		pod.UID, time.Now().UTC().Format(time.RFC3339))
	_, err := k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// remove ends a pod that terminates.
func (k *kubelet) remove(ctx context.Context, pod *corev1.Pod) error {
	now := int64(0)
	return k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}
