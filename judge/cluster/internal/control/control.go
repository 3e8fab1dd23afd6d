// Package control reaches a control plane that `up` started: kube-apiserver, and the etcd behind it. A failure ends the
// round, as in package must.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// Plane is a running control plane.
type Plane struct {
	kubernetes.Interface
	Store      *clientv3.Client
	Kubeconfig string

	config  *rest.Config
	dynamic *dynamic.DynamicClient
}

// Connect reaches the control plane whose addresses `up` printed, from the environment variables KUBECONFIG and ETCD.
func Connect() *Plane {
	kubeconfig, etcd := os.Getenv("KUBECONFIG"), os.Getenv("ETCD")
	if kubeconfig == "" || etcd == "" {
		must.Do(fmt.Errorf("KUBECONFIG and ETCD are not set: set them to what `up DIR` printed"))
	}
	config := must.Get(clientcmd.BuildConfigFromFlags("", kubeconfig))
	config.QPS = -1 // no limit
	store := must.Get(clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()}))
	return connect(config, store, kubeconfig)
}

func connect(config *rest.Config, store *clientv3.Client, kubeconfig string) *Plane {
	short := rest.CopyConfig(config)
	short.ContentType = runtime.ContentTypeProtobuf
	return &Plane{must.Get(kubernetes.NewForConfig(short)), store, kubeconfig, config, must.Get(dynamic.NewForConfig(config))}
}

// As reaches the same control plane as another user, who may do everything, too. The audit log tells them apart.
func (p *Plane) As(user string) *Plane {
	config := rest.CopyConfig(p.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	return connect(config, p.Store, p.Kubeconfig)
}

// AuditLog is where kube-apiserver writes its audit log, if `up --audit` started it.
func AuditLog(kubeconfig string) string { return filepath.Join(filepath.Dir(kubeconfig), "audit.log") }

// CacheDir is where kubectl keeps what it knows of the API.
func CacheDir(kubeconfig string) string { return filepath.Join(filepath.Dir(kubeconfig), "kubectl") }

// groups are those of the resources that are not of the core group.
var groups = map[string]string{"deployments": "apps", "replicasets": "apps", "statefulsets": "apps", "daemonsets": "apps", "jobs": "batch",
	"leases": "coordination.k8s.io"}

// Of reaches the objects of any resource, such as replicasets, in a namespace, or cluster-scoped objects if namespace
// is empty.
func (p *Plane) Of(resource, namespace string) dynamic.ResourceInterface {
	group := schema.GroupVersionResource{Group: groups[resource], Version: "v1", Resource: resource}
	return p.dynamic.Resource(group).Namespace(namespace)
}

// Object is any object that can be created.
type Object interface {
	metav1.Object
	runtime.Object
}

// Create makes an object, in its namespace if it has one.
func (p *Plane) Create(ctx context.Context, object Object) *unstructured.Unstructured {
	return must.Get(p.create(ctx, object))
}

// Ensure makes an object unless there is one of its name.
func (p *Plane) Ensure(ctx context.Context, object Object) {
	if _, err := p.create(ctx, object); !apierrors.IsAlreadyExists(err) {
		must.Do(err)
	}
}

func (p *Plane) create(ctx context.Context, object Object) (*unstructured.Unstructured, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	must.Do(err)
	resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
	fields := unstructured.Unstructured{Object: must.Get(runtime.DefaultUnstructuredConverter.ToUnstructured(object))}
	fields.SetGroupVersionKind(kinds[0])
	return p.dynamic.Resource(resource).Namespace(object.GetNamespace()).Create(ctx, &fields, metav1.CreateOptions{})
}

// CreateNamespace makes a namespace whose name begins so, and returns its name.
func (p *Plane) CreateNamespace(ctx context.Context, prefix string) string {
	return p.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}).GetName()
}

// Patch merges some fields, given as JSON, into an object or a subresource of it.
func (p *Plane) Patch(ctx context.Context, resource, namespace, name, fields string, subresources ...string) *unstructured.Unstructured {
	return must.Get(p.Of(resource, namespace).Patch(ctx, name, types.MergePatchType, []byte(fields), metav1.PatchOptions{}, subresources...))
}

// PatchPod merges some fields into a pod or a subresource of it.
func (p *Plane) PatchPod(ctx context.Context, pod *corev1.Pod, fields map[string]any, subresources ...string) {
	p.Patch(ctx, "pods", pod.Namespace, pod.Name, string(must.Get(json.Marshal(fields))), subresources...)
}

// Bind assigns a pod to a node. The client may send such a request twice, so it is not an error if the pod is already
// there.
func (p *Plane) Bind(ctx context.Context, pod *corev1.Pod, node string) error {
	err := p.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if apierrors.IsConflict(err) {
		if now, err := p.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err == nil && now.UID == pod.UID && now.Spec.NodeName == node {
			return nil
		}
	}
	return err
}

// Empty removes the workloads of a namespace and then its pods, so that the control plane does not grow. It keeps the
// namespace.
func (p *Plane) Empty(ctx context.Context, namespace string) {
	background, now, all := metav1.DeletePropagationBackground, int64(0), metav1.ListOptions{}
	owners := metav1.DeleteOptions{PropagationPolicy: &background}
	for _, resource := range []string{"deployments", "replicasets", "replicationcontrollers", "statefulsets", "daemonsets", "jobs", "configmaps", "leases"} {
		must.Do(p.Of(resource, namespace).DeleteCollection(ctx, owners, all))
	}
	pods := p.CoreV1().Pods(namespace)
	for _, pod := range must.Get(pods.List(ctx, all)).Items {
		patch := []byte(`{"metadata":{"finalizers":null}}`)
		_, err := pods.Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		must.Do(IgnoreNotFound(err)) // the garbage collector may have been faster
	}
	must.Do(pods.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, all))
}

// DeleteNodes removes the nodes of a round, which have it as this label.
func (p *Plane) DeleteNodes(ctx context.Context, label, round string) {
	must.Do(p.Of("nodes", "").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: label + "=" + round}))
}

// IgnoreNotFound returns nil if the error says that an object does not exist, and otherwise the same error.
func IgnoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// PodKey is the key under which etcd holds a pod.
func PodKey(namespace, name string) string { return "/registry/pods/" + namespace + "/" + name }

// EditPod changes a stored pod behind kube-apiserver's back, which learns of it as of any other change. It is for what
// no request can set, such as an old creation time.
func (p *Plane) EditPod(ctx context.Context, namespace, name string, edit func(*corev1.Pod)) {
	key, kind := PodKey(namespace, name), corev1.SchemeGroupVersion.WithKind("Pod")
	for {
		got := must.Get(p.Store.Get(ctx, key))
		if len(got.Kvs) == 0 {
			must.Do(fmt.Errorf("etcd holds no %s", key))
		}
		var pod corev1.Pod
		if _, _, err := stored.Decode(got.Kvs[0].Value, &kind, &pod); err != nil {
			must.Do(fmt.Errorf("cannot read %s: %w", key, err))
		}
		edit(&pod)
		var bytes bytes.Buffer
		pod.SetGroupVersionKind(kind)
		must.Do(stored.Encode(&pod, &bytes))
		unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", got.Kvs[0].ModRevision)
		if must.Get(p.Store.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, bytes.String())).Commit()).Succeeded {
			return
		}
	}
}

// stored is the form of objects in etcd.
var stored = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
