// Package admit answers admission requests. It allows every one.
package admit

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubernetesjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/probe"
	"github.com/podrank/podrank/webhook/internal/report"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Path is where requests come in.
const Path = "/scale-down"

// afterwards is how long what follows an answer may take.
const afterwards = 30 * time.Second

// A Handler answers requests.
type Handler struct {
	Steerer  *steer.Steerer
	Reporter *report.Reporter
	// Namespace is that of this program, about which only its probe asks.
	Namespace string
	// Deadline is how long a request may wait.
	Deadline time.Duration

	// What follows answers, of few requests of each namespace. Observed scale-downs take longer, so they have a semaphore of their own.
	after         sync.WaitGroup
	few, observed bounded.Semaphores
}

// New returns a handler for a program in this namespace.
func New(steerer *steer.Steerer, reporter *report.Reporter, namespace string, deadline time.Duration) *Handler {
	return &Handler{Steerer: steerer, Reporter: reporter, Namespace: namespace, Deadline: deadline,
		few: bounded.Semaphores{Most: bounded.Reports}, observed: bounded.Semaphores{Most: bounded.Reports}}
}

// Handle steers, and reports afterwards. It returns what the audit log should say.
func (h *Handler) Handle(ctx context.Context, request steer.Request) map[string]string {
	began := time.Now()
	// The context ends if the API server no longer waits.
	steering, stop := context.WithTimeout(ctx, h.Deadline)
	o := h.Steerer.Steer(steering, request)
	stop()
	report.Answered(o, time.Since(began))
	audit := report.Audit(o)
	o.Forget()
	few := &h.few
	if o.Result == steer.Observed {
		few = &h.observed
	}
	if !few.Hold(o.Key.Namespace, 1) {
		h.Reporter.LogOnly(o)
		if o.Result == steer.Observed {
			o.Release()
		}
		return audit
	}
	h.after.Go(func() {
		defer few.Release(o.Key.Namespace, 1)
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
		defer stop()
		if o.Result == steer.Observed {
			h.Reporter.Observed(ctx, o, h.Steerer.Observe(ctx, o))
			return
		}
		h.Reporter.Outcome(ctx, o)
	})
	return audit
}

// Wait returns when all that follows earlier answers is done.
func (h *Handler) Wait() { h.after.Wait() }

// A review is what is read of an AdmissionReview. It has no lists and no maps: decoded, these may take fifty times as much as what was sent.
type review struct {
	metav1.TypeMeta `json:",inline"`
	Request         request `json:"request"`
}

type request struct {
	UID       types.UID `json:"uid"`
	Operation string    `json:"operation"`
	Resource  struct {
		Resource string `json:"resource"`
	} `json:"resource"`
	SubResource string `json:"subResource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	DryRun      bool   `json:"dryRun"`
	// OldObject and Object are the set before and after, or its Scale, which has no annotations.
	OldObject object `json:"oldObject"`
	Object    object `json:"object"`
}

type object struct {
	Metadata struct {
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
		Annotations     struct {
			// As workload.Desired.
			Desired string `json:"deployment.kubernetes.io/desired-replicas"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		// A Scale omits a count of 0. A set always has one by now, since its default is 1.
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
}

var kind = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}

// Reviews answers AdmissionReviews, and allows what is asked for. It neither logs nor returns what somebody has written.
func Reviews(handler *Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, read := make([]byte, r.ContentLength), review{}
		_, err := io.ReadFull(r.Body, body)
		if err != nil || kubernetesjson.Unmarshal(body, &read) != nil || !read.isPlausible() {
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusBadRequest)
			return
		}
		answer := &admissionv1.AdmissionResponse{UID: read.Request.UID, Allowed: true}
		// What does not concern us is the API server's matter.
		if request, ok := read.Request.parse(); ok && request.DryRun && request.Key.Namespace == handler.Namespace {
			answer.Warnings = []string{probe.Warning}
		} else if ok {
			answer.AuditAnnotations = handler.Handle(r.Context(), request)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: kind, Response: answer})
	})
}

// isPlausible reports whether a review may be one of an API server. The program writes its UID into annotations of
// pods.
func (r *review) isPlausible() bool {
	of, set := r.Request, r.Request.OldObject.Metadata
	names := []string{
		of.Operation, of.Resource.Resource, of.SubResource, of.Namespace, of.Name, string(set.UID), set.ResourceVersion,
	}
	return r.TypeMeta == kind && cost.IsUUID(string(of.UID)) &&
		!slices.ContainsFunc(names, func(name string) bool { return len(name) > bounded.NameBytes })
}

var kinds = map[string]workload.Kind{"replicasets": workload.ReplicaSet, "replicationcontrollers": workload.ReplicationController}

// parse reads which count falls. It is false for a request that lowers none of a set of pods.
func (r *request) parse() (steer.Request, bool) {
	kind, isSet := kinds[r.Resource.Resource]
	return steer.Request{
		UID: r.UID, Kind: kind, Key: types.NamespacedName{Namespace: r.Namespace, Name: r.Name}, DryRun: r.DryRun,
		SetUID: r.OldObject.Metadata.UID, SetVersion: r.OldObject.Metadata.ResourceVersion,
		From: r.OldObject.Spec.Replicas, To: r.Object.Spec.Replicas,
		IsScale: r.OldObject.Metadata.Annotations.Desired != r.Object.Metadata.Annotations.Desired,
	}, isSet && r.Operation == string(admissionv1.Update) && (r.SubResource == "" || r.SubResource == "scale")
}
