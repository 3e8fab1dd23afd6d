package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/bounded"
)

// Statuses writes the status of policies, for one report of a namespace at a time.
type Statuses struct {
	// Live reads policies, and Client writes their status.
	Live   *bounded.Reader
	Client client.Client

	namespaces bounded.Semaphores
}

// Change changes the status of a policy as it is now, if it has this UID. It writes nothing if nothing changes, nor if the policy is gone.
func (s *Statuses) Change(ctx context.Context, key types.NamespacedName, uid types.UID, change func(*v1alpha1.ScaleDownPolicy)) error {
	unlock, err := s.namespaces.Lock(ctx, key.Namespace)
	if err != nil {
		return err
	}
	defer unlock()
	return s.change(ctx, key, uid, change)
}

// ChangeAll changes the status of each policy of a namespace.
func (s *Statuses) ChangeAll(ctx context.Context, namespace string, change func(*v1alpha1.ScaleDownPolicy)) error {
	unlock, err := s.namespaces.Lock(ctx, namespace)
	if err != nil {
		return err
	}
	defer unlock()
	changing := map[types.NamespacedName]types.UID{}
	err = Read(ctx, s.Live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
		if changes(policy, change) {
			changing[client.ObjectKeyFromObject(policy)] = policy.UID
		}
	})
	for key, uid := range changing {
		if err == nil {
			err = s.change(ctx, key, uid, change)
		}
	}
	return err
}

func (s *Statuses) change(ctx context.Context, key types.NamespacedName, uid types.UID, change func(*v1alpha1.ScaleDownPolicy)) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var now v1alpha1.ScaleDownPolicy
		return s.Live.Alone(ctx, func() error {
			if err := s.Live.From.Get(ctx, key, &now); err != nil || now.UID != uid || !changes(&now, change) {
				return client.IgnoreNotFound(err)
			}
			return client.IgnoreNotFound(s.Client.Status().Update(ctx, &now))
		})
	})
}

// changes reports whether a change changes anything.
func changes(policy *v1alpha1.ScaleDownPolicy, change func(*v1alpha1.ScaleDownPolicy)) bool {
	before := policy.Status.DeepCopy()
	change(policy)
	return !equality.Semantic.DeepEqual(before, &policy.Status)
}
