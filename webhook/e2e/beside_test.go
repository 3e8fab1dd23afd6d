//go:build controlplane

package e2e

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

var beside = flag.String("beside", "", "a shell command for TestBeside, which finds the control plane by KUBECONFIG and ETCD")

// TestBeside runs a command while the program steers the scale-downs of its control plane: judge/cluster/nodes plays rounds so.
func TestBeside(t *testing.T) {
	if *beside == "" {
		t.Skip("only if asked to, with -beside COMMAND")
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", *beside)
	command.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig, "ETCD="+plane.Etcd)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		t.Error(err)
	}
}
