// Package control reaches a control plane that `up` started: kube-apiserver, and the etcd behind it.
package control

import (
	"bytes"
	"context"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

// Plane is a running control plane.
type Plane struct {
	kubernetes.Interface
	Store      *clientv3.Client
	Kubeconfig string
}

// Connect reaches the control plane whose addresses `up` printed, from the environment variables KUBECONFIG and ETCD.
func Connect() (*Plane, error) {
	kubeconfig, etcd := os.Getenv("KUBECONFIG"), os.Getenv("ETCD")
	if kubeconfig == "" || etcd == "" {
		return nil, fmt.Errorf("KUBECONFIG and ETCD are not set: set them to what `up DIR` printed")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no limit
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	return &Plane{client, store, kubeconfig}, nil
}

// PodKey is the key under which etcd holds a pod.
func PodKey(namespace, name string) string { return "/registry/pods/" + namespace + "/" + name }

// EditPod changes a stored pod behind kube-apiserver's back, which learns of it as of any other change. It is for what
// no request can set, such as an old creation time.
func (p *Plane) EditPod(ctx context.Context, namespace, name string, edit func(*corev1.Pod)) error {
	key := PodKey(namespace, name)
	for {
		got, err := p.Store.Get(ctx, key)
		if err != nil {
			return err
		}
		if len(got.Kvs) == 0 {
			return fmt.Errorf("etcd holds no %s", key)
		}
		var pod corev1.Pod
		kind := corev1.SchemeGroupVersion.WithKind("Pod")
		if _, _, err := stored.Decode(got.Kvs[0].Value, &kind, &pod); err != nil {
			return fmt.Errorf("cannot read %s: %w", key, err)
		}
		edit(&pod)
		var bytes bytes.Buffer
		pod.SetGroupVersionKind(kind)
		if err := stored.Encode(&pod, &bytes); err != nil {
			return err
		}
		unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", got.Kvs[0].ModRevision)
		put, err := p.Store.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, bytes.String())).Commit()
		if err != nil {
			return err
		}
		if put.Succeeded {
			return nil
		}
	}
}

// stored is the form of objects in etcd.
var stored = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
