package app

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"k8s.io/client-go/rest"
)

// Of all Secrets of its namespace, and of all webhook configurations, the webhook asks for its own. Other requests do
// not change.
func TestOwnObjects(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { asked = append(asked, request.URL.String()) }))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	ofOwnObjects(config, "here")
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	for _, path := range []string{"/api/v1/namespaces/here/secrets?watch=1", "/api/v1/namespaces/here/pods", "/api/v1/namespaces/there/secrets", configurations} {
		answer, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	want := []string{
		"/api/v1/namespaces/here/secrets?fieldSelector=metadata.name%3D" + Secret + "&watch=1", "/api/v1/namespaces/here/pods", "/api/v1/namespaces/there/secrets",
		configurations + "?fieldSelector=metadata.name%3D" + Configuration,
	}
	if !slices.Equal(asked, want) {
		t.Errorf("it asked for %q, and not for %q", asked, want)
	}
}
