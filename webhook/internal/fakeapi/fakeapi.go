// Package fakeapi is an API server for tests: controller-runtime's fake client, with server-side apply of annotations to pods as a
// real one does it, UIDs and conflicts of field managers included.
package fakeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/cleanup"
)

// An API is a fake API server.
type API struct {
	client.WithWatch
	mu sync.Mutex
	// managed is who manages which fields of pods. The fake client would keep its own books.
	managed map[types.UID][]metav1.ManagedFieldsEntry
	// Writes are what was applied to pods, in order.
	Writes []Write
	// Before may refuse a write, or change things before it. It may be nil.
	Before func(*Write) error
	before sync.Mutex
}

// A Write is what was applied to a pod.
type Write struct {
	Name        string
	Annotations map[string]string
	Force       bool
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
	api := &API{managed: map[types.UID][]metav1.ManagedFieldsEntry{}}
	for _, object := range objects {
		api.managed[object.GetUID()] = object.GetManagedFields()
	}
	api.WithWatch = fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.ScaleDownPolicy{}).
		WithIndex(&corev1.Pod{}, cleanup.ByController, cleanup.Controller).
		WithInterceptorFuncs(interceptor.Funcs{Get: api.get, List: api.list, Update: api.update, Patch: api.patch}).Build()
	return api
}

func (a *API) get(ctx context.Context, from client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := from.Get(ctx, key, object, options...)
	a.mu.Lock()
	defer a.mu.Unlock()
	object.SetManagedFields(slices.Clone(a.managed[object.GetUID()]))
	return err
}

func (a *API) list(ctx context.Context, from client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	err := from.List(ctx, list, options...)
	a.mu.Lock()
	defer a.mu.Unlock()
	if pods, ok := list.(*corev1.PodList); ok {
		for i := range pods.Items {
			pods.Items[i].ManagedFields = slices.Clone(a.managed[pods.Items[i].UID])
		}
	}
	return err
}

func (a *API) update(ctx context.Context, to client.WithWatch, object client.Object, options ...client.UpdateOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.managed[object.GetUID()] = object.GetManagedFields()
	return to.Update(ctx, object, options...)
}

// Log returns what was applied so far.
func (a *API) Log() []Write {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.Writes)
}

func (a *API) patch(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var chosen client.PatchOptions
	chosen.ApplyOptions(options)
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	var applied metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &applied); err != nil {
		return err
	}
	write := Write{applied.Name, applied.Annotations, chosen.Force != nil && *chosen.Force}
	if err := a.mayWrite(&write); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	pods := schema.GroupResource{Resource: "pods"}
	var pod corev1.Pod
	if err := to.Get(ctx, client.ObjectKeyFromObject(&applied), &pod); err != nil {
		return apierrors.NewConflict(pods, applied.Name, fmt.Errorf("uid mismatch: no existing object was found"))
	}
	if pod.UID != applied.UID {
		return invalidUID(applied.Name)
	}
	if applied.ResourceVersion != "" && applied.ResourceVersion != pod.ResourceVersion {
		return apierrors.NewConflict(pods, applied.Name, fmt.Errorf("the object has been modified"))
	}
	pod.ManagedFields = slices.Clone(a.managed[pod.UID])
	mine, theirs := fields(&pod, chosen.FieldManager)
	// Managers of one value share it. Force takes a value from its managers only if it changes.
	var taken []string
	for key, value := range applied.Annotations {
		if now, ok := pod.Annotations[key]; theirs[key] && ok && now != value {
			if !write.Force {
				return conflict(applied.Name, key)
			}
			taken = append(taken, key)
		}
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	for key := range mine {
		if _, ok := applied.Annotations[key]; !ok && !theirs[key] {
			delete(pod.Annotations, key)
		}
	}
	maps.Copy(pod.Annotations, applied.Annotations)
	disown(&pod, taken...)
	Share(&pod, chosen.FieldManager, slices.Collect(maps.Keys(applied.Annotations))...)
	a.managed[pod.UID] = pod.ManagedFields
	a.Writes = append(a.Writes, write)
	return to.Update(ctx, &pod)
}

func (a *API) mayWrite(write *Write) error {
	if a.Before == nil {
		return nil
	}
	a.before.Lock()
	defer a.before.Unlock()
	return a.Before(write)
}

// fields returns which annotations this manager and others manage.
func fields(pod *corev1.Pod, manager string) (mine, theirs map[string]bool) {
	mine, theirs = map[string]bool{}, map[string]bool{}
	for _, entry := range pod.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var parsed struct {
			Metadata struct {
				Annotations map[string]any `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		_ = json.Unmarshal(entry.FieldsV1.Raw, &parsed)
		for key := range parsed.Metadata.Annotations {
			if entry.Manager == manager {
				mine[strings.TrimPrefix(key, "f:")] = true
			} else {
				theirs[strings.TrimPrefix(key, "f:")] = true
			}
		}
	}
	return mine, theirs
}

// Manage makes a field manager the only one of these annotations, and of no others.
func Manage(pod *corev1.Pod, manager string, keys ...string) {
	disown(pod, keys...)
	Share(pod, manager, keys...)
}

// Share makes a field manager one of these annotations, and of no others. Whoever else manages them keeps them.
func Share(pod *corev1.Pod, manager string, keys ...string) {
	pod.ManagedFields = slices.DeleteFunc(pod.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == manager })
	if len(keys) == 0 {
		return
	}
	managed := map[string]any{}
	for _, key := range keys {
		managed["f:"+key] = map[string]any{}
	}
	raw, err := json.Marshal(map[string]any{"f:metadata": map[string]any{"f:annotations": managed}})
	if err != nil {
		panic(err)
	}
	pod.ManagedFields = append(pod.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw},
	})
}

// disown takes these annotations from all field managers.
func disown(pod *corev1.Pod, keys ...string) {
	for i := range pod.ManagedFields {
		entry := &pod.ManagedFields[i]
		if entry.FieldsV1 == nil {
			continue
		}
		text := string(entry.FieldsV1.Raw)
		for _, key := range keys {
			text = strings.ReplaceAll(text, fmt.Sprintf("%q", "f:"+key), `"f:none"`)
		}
		entry.FieldsV1 = &metav1.FieldsV1{Raw: []byte(text)}
	}
}

func conflict(name, key string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Message: "Apply failed",
		Details: &metav1.StatusDetails{Name: name, Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldManagerConflict, Field: ".metadata.annotations." + key},
		}},
	}}
}

func invalidUID(name string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Details: &metav1.StatusDetails{Name: name, Causes: []metav1.StatusCause{
			{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.uid", Message: "field is immutable"},
		}},
	}}
}
