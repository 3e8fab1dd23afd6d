package cleanup

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
)

// passes is how often all pods are read until none has anything of this program.
const passes = 5

// An Uninstaller removes from all pods what this program has written. It needs the right to delete the webhook configuration, which only the hook of the
// chart has.
type Uninstaller struct {
	// Client reads from the API server, in bounded answers.
	Client client.WithWatch
	Costs  *cost.Writer
	// Configuration is the name of the webhook configuration, and Patience is how long a scale-down may be under way after it is deleted.
	Configuration string
	Patience      time.Duration
}

// Run deletes the webhook configuration, so that nothing is steered any more, waits until scale-downs that are under way have ended, and then cleans up.
// It returns of how many pods it has removed something.
func (u *Uninstaller) Run(ctx context.Context) (removed int, err error) {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: u.Configuration}}
	if err := u.Client.Delete(ctx, configuration); client.IgnoreNotFound(err) != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(u.Patience):
	}
	for range passes {
		found, err := u.pass(ctx)
		if found == 0 || err != nil {
			return removed, err
		}
		removed += found
	}
	return removed, fmt.Errorf("pods still had deletion costs of podrank-webhook after %d attempts", passes)
}

// pass reads all pods, and returns how many had something to remove.
func (u *Uninstaller) pass(ctx context.Context) (found int, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	live, failed := bounded.NewReader(u.Client, 2), []error(nil)
	err = bounded.Each(ctx, live, list, func(pod *metav1.PartialObjectMetadata) error {
		if !cost.Wrote(pod, nil) {
			return nil
		}
		_, template, err := setOf(pod).read(ctx, live)
		if err == nil && cost.Wrote(pod, template) {
			found++
			err = u.Costs.Remove(ctx, []cost.Undo{{Pod: cost.PodOf(pod), Before: template}})[0]
		}
		if err != nil && !errors.Is(err, cost.ErrChanged) {
			failed = append(failed, err)
		}
		return ctx.Err()
	}, client.Limit(bounded.Page))
	return found, errors.Join(append(failed, err)...)
}
