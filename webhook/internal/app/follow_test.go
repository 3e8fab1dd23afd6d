package app

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/nodepods"
)

// idle is a manager that starts nothing.
type idle struct {
	manager.Manager
	caches *informertest.FakeInformers
}

func (i idle) GetCache() cache.Cache    { return i.caches }
func (idle) Add(manager.Runnable) error { return nil }

// The pods of the cluster are needed once a policy prefers empty nodes, whether it is new or changes.
func TestFollow(t *testing.T) {
	for name, comes := range map[string]func(*controllertest.FakeInformer, *v1alpha1.ScaleDownPolicy){
		"new": func(to *controllertest.FakeInformer, policy *v1alpha1.ScaleDownPolicy) { to.Add(policy) },
		"changed": func(to *controllertest.FakeInformer, policy *v1alpha1.ScaleDownPolicy) {
			to.Update(&v1alpha1.ScaleDownPolicy{}, policy)
		},
	} {
		for empty, want := range map[v1alpha1.EmptyNodes]bool{v1alpha1.EmptyNodesPrefer: true, v1alpha1.EmptyNodesIgnore: false} {
			caches, pods, isNeeded := &informertest.FakeInformers{Scheme: Scheme()}, nodepods.New(nil, nil), false
			pods.Need = func() { isNeeded = true }
			if _, err := follow(context.Background(), idle{caches: caches}, pods); err != nil {
				t.Fatal(err)
			}
			policies, err := caches.FakeInformerFor(context.Background(), &v1alpha1.ScaleDownPolicy{})
			if err != nil {
				t.Fatal(err)
			}
			comes(policies, &v1alpha1.ScaleDownPolicy{Spec: v1alpha1.ScaleDownPolicySpec{EmptyNodes: empty}})
			if isNeeded != want {
				t.Errorf("%s, %q: needed: %t", name, empty, isNeeded)
			}
		}
	}
}
