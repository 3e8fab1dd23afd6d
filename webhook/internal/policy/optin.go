package policy

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
)

// A Keeper keeps the list.
type Keeper struct {
	// Client knows where there are policies. Live reads the configuration, which Client writes.
	Client client.Client
	Live   client.Reader
	// Configuration is the name of the webhook configuration.
	Configuration string
	// Namespace is that of this program, which is always on the list. Never is a namespace that never is, whatever policies it has.
	Namespace, Never string
}

// SetUp makes the keeper run on the manager's leader.
func (k *Keeper) SetUp(mgr manager.Manager) error {
	whole := handler.TypedEnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: k.Configuration}}}
	})
	own := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetName() == k.Configuration })
	return builder.ControllerManagedBy(mgr).
		Named("optin").
		Watches(&v1alpha1.ScaleDownPolicy{}, whole, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// Also if somebody has applied the manifests again.
		Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, whole, builder.WithPredicates(own)).
		Complete(k)
}

// Reconcile writes the list, if it is not as it should be.
func (k *Keeper) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var policies v1alpha1.ScaleDownPolicyList
	if err := k.Client.List(ctx, &policies); err != nil {
		return ctrl.Result{}, err
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := k.Live.Get(ctx, client.ObjectKey{Name: k.Configuration}, &configuration); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	namespaces := sets.New(k.Namespace)
	for i := range policies.Items {
		namespaces.Insert(policies.Items[i].Namespace)
	}
	namespaces.Delete(k.Never)
	before := configuration.DeepCopy()
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: sets.List(namespaces),
		}}}
	}
	if equality.Semantic.DeepEqual(before, &configuration) {
		return ctrl.Result{}, nil
	}
	// If somebody else has written it meanwhile, this is tried again.
	return ctrl.Result{}, k.Client.Update(ctx, &configuration)
}
