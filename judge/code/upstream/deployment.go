package upstream

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

// A DeploymentController is Kubernetes' own, on objects in memory: its whole syncDeployment decides, and what it would
// write to the API server is recorded. Only one goroutine may use it at a time.
type DeploymentController struct {
	controller              *deployment.DeploymentController
	deployments, sets, pods cache.Indexer
	api                     *fake.Clientset
	sync                    Sync
}

// NewDeploymentController makes one, which ends with the context.
func NewDeploymentController(ctx context.Context) (*DeploymentController, error) {
	c := &DeploymentController{}
	c.api = recorder(func(action clienttesting.Action, object runtime.Object) error {
		return c.sync.record(action.GetVerb(), object)
	})
	// Never started: the stores hold what Sync puts there.
	factory := informers.NewSharedInformerFactory(c.api, 0)
	apps, core := factory.Apps().V1(), factory.Core().V1()
	c.deployments = apps.Deployments().Informer().GetIndexer()
	c.sets = apps.ReplicaSets().Informer().GetIndexer()
	c.pods = core.Pods().Informer().GetIndexer()
	var err error
	c.controller, err = deployment.NewDeploymentController(
		ctx, apps.Deployments(), apps.ReplicaSets(), core.Pods(), c.api)
	if err == nil {
		endsWith(ctx, c.controller)
	}
	return c, err
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

// Written is the set after the sync.
func (s Sync) Written(set *appsv1.ReplicaSet) *appsv1.ReplicaSet {
	if written := s.Sets[set.Name]; written != nil {
		return written
	}
	return set
}

// Sync runs one sync. The objects are as an informer's: upstream does not change them.
func (c *DeploymentController) Sync(d *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*v1.Pod) (Sync, error) {
	replace(c.deployments, []*appsv1.Deployment{d})
	replace(c.sets, sets)
	replace(c.pods, pods)
	c.api.ClearActions()
	c.sync = Sync{Sets: map[string]*appsv1.ReplicaSet{}}
	err := syncDeployment(c.controller, context.Background(), d.Namespace+"/"+d.Name)
	if c.sync.Rejected {
		err = nil
	}
	return c.sync, err
}

// record takes what is written. Upstream writes the Deployment itself only to roll back, and deletes only sets beyond the history
// limit, none of which has pods.
func (s *Sync) record(verb string, object runtime.Object) error {
	switch object := object.(type) {
	case *appsv1.Deployment:
		s.Deployment = object
	case *appsv1.ReplicaSet:
		// As the API server's validation.
		if *object.Spec.Replicas < 0 {
			s.Rejected = true
			negative := field.Invalid(field.NewPath("spec", "replicas"), *object.Spec.Replicas, "must be greater than or equal to 0")
			return errors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, object.Name, field.ErrorList{negative})
		}
		if verb == "update" {
			s.Sets[object.Name] = object
		} else if s.Created != nil {
			return fmt.Errorf("%s is the second set created", object.Name)
		} else {
			s.Created = object
		}
	}
	return nil
}

// recorder is an API server that hands each request but those for a status to a function, with the object if it has one. It accepts
// the request unless the function returns an error.
func recorder(record func(action clienttesting.Action, object runtime.Object) error) *fake.Clientset {
	api := &fake.Clientset{}
	api.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		var object runtime.Object
		if written, ok := action.(interface{ GetObject() runtime.Object }); ok {
			object = written.GetObject()
		}
		if action.GetSubresource() == "status" {
			return true, object, nil
		}
		return true, object, record(action, object)
	})
	return api
}

// replace makes these the objects of a store.
func replace[T any](store cache.Indexer, objects []T) {
	list := make([]any, len(objects))
	for i, object := range objects {
		list[i] = object
	}
	if err := store.Replace(list, ""); err != nil {
		panic(err) // of an object that is none
	}
}
