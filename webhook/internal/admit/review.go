package admit

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubernetesjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/podrank/podrank/webhook/internal/cost"
)

// longest is how long a name in a request may be.
const longest = 253

// Reviews answers AdmissionReviews. Unlike controller-runtime's handler, it neither logs nor returns what somebody has written.
func Reviews(handler admission.Handler) http.Handler {
	kind := metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var review admissionv1.AdmissionReview
		if err == nil {
			err = kubernetesjson.Unmarshal(body, &review)
		}
		if err == nil && review.TypeMeta != kind {
			err = errors.New("it is no AdmissionReview of v1")
		}
		if err == nil {
			err = plausible(review.Request)
		}
		if err != nil {
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusBadRequest)
			return
		}
		request := admission.Request{AdmissionRequest: *review.Request}
		response := handler.Handle(r.Context(), request)
		if err := response.Complete(request); err != nil {
			http.Error(w, "no response", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: kind, Response: &response.AdmissionResponse})
	})
}

// plausible returns an error if a request has what none of an API server has.
func plausible(request *admissionv1.AdmissionRequest) error {
	if request == nil || !cost.IsUUID(string(request.UID)) {
		return errors.New("its UID is no UUID")
	}
	for _, name := range []string{request.Name, request.Namespace, request.SubResource, request.Resource.Resource, string(request.Operation)} {
		if len(name) > longest {
			return errors.New("it has a long name")
		}
	}
	return nil
}
