// Package admit answers admission requests. It allows every one.
//
// +kubebuilder:webhookconfiguration:mutating=false,name=podrank-webhook
// +kubebuilder:webhook:path=/scale-down,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=NoneOnDryRun,timeoutSeconds=3,groups=apps,resources=replicasets;replicasets/scale,verbs=update,versions=v1,name=replicasets.podrank.dev,admissionReviewVersions=v1,serviceName=podrank-webhook,serviceNamespace=podrank-system
// +kubebuilder:webhook:path=/scale-down,mutating=false,failurePolicy=ignore,matchPolicy=Equivalent,sideEffects=NoneOnDryRun,timeoutSeconds=3,groups="",resources=replicationcontrollers;replicationcontrollers/scale,verbs=update,versions=v1,name=replicationcontrollers.podrank.dev,admissionReviewVersions=v1,serviceName=podrank-webhook,serviceNamespace=podrank-system
package admit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/observe"
	"github.com/podrank/podrank/webhook/internal/plans"
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
	Plans    *plans.Plans
	// Deadline is how long a request may wait.
	Deadline time.Duration
	// IsEnding reports whether the program should end.
	IsEnding func() bool

	// What follows answers.
	after sync.WaitGroup
}

// Handle steers, allows, and afterwards takes costs off and reports.
func (h *Handler) Handle(ctx context.Context, req admission.Request) admission.Response {
	began := time.Now()
	request, err := parse(&req.AdmissionRequest)
	if err != nil {
		// It does not concern us. The API server says what is wrong with it, if anything is.
		return admission.Allowed(err.Error())
	}
	// The API server ends the context if it no longer waits, but so does this program's server when it should end. What has begun
	// by then is finished.
	steering, stop := context.WithTimeout(context.WithoutCancel(ctx), h.Deadline)
	waited := context.AfterFunc(ctx, func() {
		if !h.IsEnding() {
			stop()
		}
	})
	o := h.Steerer.Steer(steering, request)
	waited()
	stop()
	h.Plans.Add(o)
	report.Answered(o, time.Since(began))
	h.after.Go(func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
		defer stop()
		if count, err := h.Steerer.TakeOff(ctx, o); count > 0 || err != nil {
			h.Reporter.TakenOff(o, count, err)
		}
		if o.Result == steer.Observed {
			h.Reporter.Observed(ctx, o, h.observe(ctx, o))
			return
		}
		h.Reporter.Outcome(ctx, o)
	})
	answer := admission.Allowed("")
	answer.AuditAnnotations = report.Audit(o)
	return answer
}

// observe predicts, and compares with what comes of the request.
func (h *Handler) observe(ctx context.Context, o *steer.Outcome) observe.Comparison {
	defer h.Steerer.Observed(o)
	if err := h.Steerer.Predict(o); err != nil {
		h.Reporter.Log.Error(err, "cannot predict", "kind", o.Kind, "namespace", o.Key.Namespace, "name", o.Key.Name)
		return observe.Comparison{Without: observe.Unpredicted}
	}
	return observe.Compare(ctx, h.Steerer, o)
}

// Wait returns when all that follows earlier answers is done.
func (h *Handler) Wait() { h.after.Wait() }

// parse reads which count falls.
func parse(req *admissionv1.AdmissionRequest) (steer.Request, error) {
	// It goes into annotations of pods.
	if !cost.IsUUID(string(req.UID)) {
		return steer.Request{}, errors.New("its UID is no UUID")
	}
	request := steer.Request{
		UID:    req.UID,
		Key:    types.NamespacedName{Namespace: req.Namespace, Name: req.Name},
		DryRun: req.DryRun != nil && *req.DryRun,
	}
	switch req.Resource.Resource {
	case "replicasets":
		request.Kind = workload.ReplicaSet
	case "replicationcontrollers":
		request.Kind = workload.ReplicationController
	default:
		return request, fmt.Errorf("%s is no set of pods", req.Resource.Resource)
	}
	if req.Operation != admissionv1.Update || req.SubResource != "" && req.SubResource != "scale" {
		return request, fmt.Errorf("%s of %q lowers no count", req.Operation, req.SubResource)
	}
	var before, after object
	if err := json.Unmarshal(req.OldObject.Raw, &before); err != nil {
		return request, fmt.Errorf("oldObject: %w", err)
	}
	if err := json.Unmarshal(req.Object.Raw, &after); err != nil {
		return request, fmt.Errorf("object: %w", err)
	}
	request.Set, request.Version = before.Metadata.UID, before.Metadata.ResourceVersion
	request.From, request.To = before.Spec.Replicas, after.Spec.Replicas
	request.IsScale = before.Metadata.Annotations[workload.Desired] != after.Metadata.Annotations[workload.Desired]
	return request, nil
}

// object is what a set or its Scale, which has no annotations, tells here.
type object struct {
	Metadata struct {
		UID             types.UID         `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		// A Scale omits a count of 0. A set always has one by now, since its default is 1.
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
}
