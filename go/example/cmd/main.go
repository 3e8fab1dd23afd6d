// Command cmd runs the controller of Fleets against the cluster of the current kubeconfig.
package main

import (
	"log"

	"github.com/podrank/podrank/go/example"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		log.Fatal(err)
	}
	if err := example.AddToScheme(manager.GetScheme()); err != nil {
		log.Fatal(err)
	}
	if err := (&example.Reconciler{Client: manager.GetClient()}).SetupWithManager(manager); err != nil {
		log.Fatal(err)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
