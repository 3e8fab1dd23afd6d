package policy

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"
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

// Change changes the statuses of the policies of a namespace, as they are now. It writes those alone that change.
func (s *Statuses) Change(ctx context.Context, namespace string, change func(*v1alpha1.ScaleDownPolicy)) error {
	unlock, err := s.namespaces.Lock(ctx, namespace)
	if err != nil {
		return err
	}
	defer unlock()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var changed []*v1alpha1.ScaleDownPolicy
		err := Read(ctx, s.Live, namespace, func(policy *v1alpha1.ScaleDownPolicy) {
			before := policy.Status.DeepCopy()
			if change(policy); !equality.Semantic.DeepEqual(before, &policy.Status) {
				changed = append(changed, policy)
			}
		})
		for _, policy := range changed {
			err = errors.Join(err, client.IgnoreNotFound(s.Client.Status().Update(ctx, policy)))
		}
		return err
	})
}
