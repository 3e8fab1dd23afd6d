package bounded_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

const page = "../../DESIGN.md"

// DESIGN.md has each bound, with what it protects and what happens beyond it. BOUNDS=write makes the table again.
func TestBounds(t *testing.T) {
	text, err := os.ReadFile(page)
	fakeapi.Must(t, err)
	head, rest, _ := strings.Cut(string(text), "| Bound | Value | Protects | Beyond |\n|---|---|---|---|\n")
	has, tail, _ := strings.Cut(rest, "\n\n")
	want := table(t)
	if has == want {
		return
	}
	if os.Getenv("BOUNDS") != "write" {
		t.Fatalf("%s has other bounds: run BOUNDS=write go test ./internal/bounded. They are:\n%s", page, want)
	}
	text = []byte(head + "| Bound | Value | Protects | Beyond |\n|---|---|---|---|\n" + want + "\n\n" + tail)
	fakeapi.Must(t, os.WriteFile(page, text, 0o644))
}

// table has a row for each constant of bounds.go.
func table(t *testing.T) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "bounds.go", nil, parser.ParseComments)
	fakeapi.Must(t, err)
	checked, err := (&types.Config{Importer: importer.ForCompiler(files, "source", nil)}).Check("bounded", files, []*ast.File{file}, nil)
	fakeapi.Must(t, err)
	var rows []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok {
			return true
		}
		name := spec.Names[0].Name
		what, rest, _ := strings.Cut(strings.TrimPrefix(strings.Join(strings.Fields(spec.Doc.Text()), " "), name+" is "), " Protects: ")
		protects, beyond, ok := strings.Cut(rest, " Beyond: ")
		if !ok {
			t.Errorf("%s does not say what it protects, and what happens beyond it", name)
		}
		rows = append(rows, fmt.Sprintf("| `%s`: %s | %s | %s | %s |", name, trim(what), value(checked.Scope().Lookup(name).(*types.Const)), trim(protects), trim(beyond)))
		return false
	})
	return strings.Join(rows, "\n")
}

func trim(text string) string { return strings.TrimSuffix(text, ".") }

// value is a constant as people write it.
func value(of *types.Const) string {
	number, _ := constant.Int64Val(of.Val())
	switch {
	case of.Type().String() == "time.Duration":
		return fmt.Sprintf("%v s", time.Duration(number).Seconds())
	case strings.HasSuffix(of.Name(), "Bytes") && number >= 1<<20:
		return fmt.Sprintf("%d MiB", number>>20)
	case strings.HasSuffix(of.Name(), "Bytes") && number >= 1<<12:
		return fmt.Sprintf("%d KiB", number>>10)
	case strings.HasSuffix(of.Name(), "Bytes"):
		return grouped(number) + " bytes"
	}
	return grouped(number)
}

func grouped(number int64) string {
	if number < 1000 {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d,%03d", number/1000, number%1000)
}
