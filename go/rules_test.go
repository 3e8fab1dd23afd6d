package podrank

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podrank/podrank/go/internal/engine"
)

// constants returns the values of the constants in rules.go whose names begin so, in their order. Each has a text that begins with
// its name.
func constants(t *testing.T, prefix string) (values []string) {
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			constant := spec.(*ast.ValueSpec)
			name := constant.Names[0].Name
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			if !strings.HasPrefix(constant.Doc.Text(), name+": ") {
				t.Errorf("%s has the text %q", name, constant.Doc.Text())
			}
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if words := strings.ReplaceAll(strings.ToLower(name[len(prefix):]), "-", ""); words != strings.ReplaceAll(value, "-", "") {
				t.Errorf("%s is %q", name, value)
			}
			values = append(values, value)
		}
	}
	return values
}

// There is a constant for every rule and reason that the core has, and for no others, in the order of their numbers.
func TestRulesAndReasonsAreTheCores(t *testing.T) {
	for prefix, name := range map[string]func(uint8) string{
		"Rule": engine.Current.RuleName, "DeploymentReason": engine.Current.ReasonName,
		"StatefulSetReason": engine.Current.MemberReasonName, "JobReason": engine.Current.JobReasonName,
		"DaemonSetReason": engine.Current.DaemonReasonName,
	} {
		var want []string
		for number := range 256 {
			// NextStatefulSet leaves pods without an ordinal out.
			if text := name(uint8(number)); text != "" && text != "no-ordinal" {
				want = append(want, text)
			}
		}
		if got := constants(t, prefix); !slices.Equal(got, want) || len(got) < 8 {
			t.Errorf("%s: %q, want %q", prefix, got, want)
		}
	}
}
