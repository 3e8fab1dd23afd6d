package upstream

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

// A DeploymentController is Kubernetes' own, on objects in memory: its whole syncDeployment decides, and what it would
// write to the API server is recorded. It is not for use by several goroutines at once.
type DeploymentController struct {
	controller              *deployment.DeploymentController
	deployments, sets, pods cache.Indexer
	api                     *recorder
}

// NewDeploymentController makes one.
func NewDeploymentController() (*DeploymentController, error) {
	api := &recorder{}
	// Never started: the stores hold what Sync puts there.
	factory := informers.NewSharedInformerFactory(api, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	controller, err := deployment.NewDeploymentController(
		context.Background(), apps.Deployments(), apps.ReplicaSets(), core.Pods(), api)
	if err != nil {
		return nil, err
	}
	return &DeploymentController{
		controller: controller, api: api,
		deployments: apps.Deployments().Informer().GetIndexer(),
		sets:        apps.ReplicaSets().Informer().GetIndexer(),
		pods:        core.Pods().Informer().GetIndexer(),
	}, nil
}

// A Sync is what one sync of a Deployment wrote.
type Sync struct {
	// Deployment is as it was written, but for its status; nil if it was not.
	Deployment *appsv1.Deployment
	// Sets has the sets that were updated, as they were written last, by name.
	Sets map[string]*appsv1.ReplicaSet
	// Created is the set that was created, if one was.
	Created *appsv1.ReplicaSet
	// Rejected is whether the sync ended with a size below 0, which no API server accepts.
	Rejected bool
}

// Size is the set's spec.replicas after the sync.
func (s Sync) Size(set *appsv1.ReplicaSet) int32 {
	if written := s.Sets[set.Name]; written != nil {
		set = written
	}
	return *set.Spec.Replicas
}

// Sync runs one sync. The objects are as an informer's: upstream does not change them.
func (c *DeploymentController) Sync(d *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*v1.Pod) (Sync, error) {
	if err := replace(c.deployments, []*appsv1.Deployment{d}); err != nil {
		return Sync{}, err
	}
	if err := replace(c.sets, sets); err != nil {
		return Sync{}, err
	}
	if err := replace(c.pods, pods); err != nil {
		return Sync{}, err
	}
	c.api.Sync = Sync{Sets: map[string]*appsv1.ReplicaSet{}}
	err := syncDeployment(c.controller, context.Background(), d.Namespace+"/"+d.Name)
	if c.api.Rejected {
		err = nil
	}
	return c.api.Sync, err
}

func replace[T any](store cache.Indexer, objects []T) error {
	list := make([]any, len(objects))
	for i, object := range objects {
		list[i] = object
	}
	return store.Replace(list, "")
}

// A recorder is as much of an API server as the controller asks for.
type recorder struct {
	clientset.Interface
	appsclient.AppsV1Interface
	Sync
}

func (r *recorder) AppsV1() appsclient.AppsV1Interface { return r }

// CoreV1 is where events would go, if the controller ran.
func (r *recorder) CoreV1() coreclient.CoreV1Interface { return nil }

func (r *recorder) Deployments(string) appsclient.DeploymentInterface {
	return deploymentWriter{Sync: &r.Sync}
}

func (r *recorder) ReplicaSets(string) appsclient.ReplicaSetInterface {
	return setWriter{Sync: &r.Sync}
}

// A deploymentWriter accepts every status. Upstream writes the Deployment itself only to roll back.
type deploymentWriter struct {
	appsclient.DeploymentInterface
	*Sync
}

func (deploymentWriter) UpdateStatus(_ context.Context, d *appsv1.Deployment, _ metav1.UpdateOptions) (*appsv1.Deployment, error) {
	return d, nil
}

func (w deploymentWriter) Update(_ context.Context, d *appsv1.Deployment, _ metav1.UpdateOptions) (*appsv1.Deployment, error) {
	w.Deployment = d
	return d, nil
}

type setWriter struct {
	appsclient.ReplicaSetInterface
	*Sync
}

func (w setWriter) Update(_ context.Context, set *appsv1.ReplicaSet, _ metav1.UpdateOptions) (*appsv1.ReplicaSet, error) {
	if err := w.validate(set); err != nil {
		return nil, err
	}
	w.Sets[set.Name] = set
	return set, nil
}

func (w setWriter) Create(_ context.Context, set *appsv1.ReplicaSet, _ metav1.CreateOptions) (*appsv1.ReplicaSet, error) {
	if err := w.validate(set); err != nil {
		return nil, err
	}
	if w.Created != nil {
		return nil, fmt.Errorf("%s is the second set created", set.Name)
	}
	w.Created = set
	return set, nil
}

// Delete is asked for sets beyond the history limit, none of which has pods.
func (w setWriter) Delete(context.Context, string, metav1.DeleteOptions) error { return nil }

// validate does what the API server's validation does of a size.
func (w setWriter) validate(set *appsv1.ReplicaSet) error {
	if *set.Spec.Replicas >= 0 {
		return nil
	}
	w.Rejected = true
	negative := field.Invalid(field.NewPath("spec", "replicas"), *set.Spec.Replicas, "must be greater than or equal to 0")
	return errors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, set.Name, field.ErrorList{negative})
}
