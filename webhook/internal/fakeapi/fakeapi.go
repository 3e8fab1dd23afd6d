// Package fakeapi is an API server for tests: controller-runtime's fake client, which also applies fields for their managers as a
// real server does. It keeps the UID of what is applied, and a log.
package fakeapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// An API is a fake API server.
type API struct {
	client.WithWatch
	mu sync.Mutex
	// writes are what was applied to pods, in order.
	writes []Write
	// Before may refuse a write, or change things before it. It may be nil.
	Before func(*Write) error
	before sync.Mutex
}

// A Write is what was applied to a pod.
type Write struct {
	Name        string
	Annotations map[string]string
}

// Scheme has the types that tests use.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
}

// New returns an API server with these objects.
func New(objects ...client.Object) *API {
	api := &API{}
	for _, object := range objects {
		// The fake client notes managers only where there is one.
		if pod, ok := object.(*corev1.Pod); ok {
			Manage(pod, "creator", "example.com/other")
		}
	}
	api.WithWatch = fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).WithReturnManagedFields().
		WithStatusSubresource(&v1alpha1.ScaleDownPolicy{}).
		WithIndex(&corev1.Pod{}, workload.ByController, workload.Controller).
		WithIndex(&appsv1.ReplicaSet{}, workload.ByController, workload.Controller).
		WithInterceptorFuncs(interceptor.Funcs{Patch: api.patch, List: list}).Build()
	return api
}

// list selects by the text of a selector, as a server does: that of one that selects nothing is empty, and so it selects everything.
func list(ctx context.Context, to client.WithWatch, of client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.LabelSelector != nil && asked.LabelSelector.String() == "" {
		asked.LabelSelector = nil
	}
	return to.List(ctx, of, asked)
}

// Written is what was applied so far.
func (a *API) Written() []Write {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.writes)
}

func (a *API) patch(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var applied metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &applied); err != nil {
		return err
	}
	write := Write{applied.Name, applied.Annotations}
	if err := a.mayWrite(&write); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	// The fake client would change the UID.
	var pod corev1.Pod
	if err := to.Get(ctx, client.ObjectKeyFromObject(&applied), &pod); err == nil && pod.UID != applied.UID {
		return refuse(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, applied.Name, metav1.StatusCause{
			Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.uid", Message: "field is immutable",
		})
	}
	if err := to.Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	a.writes = append(a.writes, write)
	return nil
}

func (a *API) mayWrite(write *Write) error {
	if a.Before == nil {
		return nil
	}
	a.before.Lock()
	defer a.before.Unlock()
	return a.Before(write)
}

// Manage makes a field manager the owner of these annotations, in a pod that no server has yet.
func Manage(pod *corev1.Pod, manager string, keys ...string) {
	managed := map[string]any{}
	for _, key := range keys {
		managed["f:"+key] = map[string]any{}
	}
	raw, err := json.Marshal(map[string]any{"f:metadata": map[string]any{"f:annotations": managed}})
	if err != nil {
		panic(err)
	}
	operation := metav1.ManagedFieldsOperationUpdate
	if strings.HasPrefix(manager, "podrank") {
		operation = metav1.ManagedFieldsOperationApply
	}
	pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw},
	})
}

// Theirs is the error if another field manager has the cost of a pod.
func Theirs(pod string) error {
	return refuse(http.StatusConflict, metav1.StatusReasonConflict, pod, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict})
}

func refuse(code int32, reason metav1.StatusReason, name string, cause metav1.StatusCause) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Details: &metav1.StatusDetails{Name: name, Causes: []metav1.StatusCause{cause}},
	}}
}
