package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// missing is the digest of a function that a release does not have.
const missing = "missing"

// digests returns a digest of each function by its place, of the files below a folder.
func digests(root string, functions []function) (map[string]string, error) {
	files := map[string]map[string]string{}
	found := map[string]string{}
	for _, function := range functions {
		file, name, _ := strings.Cut(function.place, " ")
		if files[file] == nil {
			var err error
			if files[file], err = digestsOf(filepath.Join(root, file)); err != nil {
				return nil, err
			}
		}
		found[function.place] = missing
		if digest, ok := files[file][name]; ok {
			found[function.place] = digest
		}
	}
	return found, nil
}

// digestsOf returns a digest of each function, method, constant and variable of a file, and of each value in a variable that is a map,
// such as the defaults of a feature gate. Comments and spaces do not count.
func digestsOf(path string) (map[string]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	} else if err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			digests[nameOf(declaration)] = digestOf(declaration)
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					addValues(digests, values)
				}
			}
		}
	}
	return digests, nil
}

// nameOf is "Name", or "Type.Name" of a method.
func nameOf(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	return fmt.Sprintf("%s.%s", receiver, function.Name)
}

func addValues(digests map[string]string, values *ast.ValueSpec) {
	for _, name := range values.Names {
		digests[name.Name] = digestOf(values)
	}
	for _, value := range values.Values {
		literal, ok := value.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, element := range literal.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					digests[values.Names[0].Name+"["+key.Name+"]"] = digestOf(pair)
				}
			}
		}
	}
}

func digestOf(node ast.Node) string {
	var text bytes.Buffer
	// Without the positions, lines are broken in one way. It fails only if it cannot write.
	if err := (&printer.Config{}).Fprint(&text, token.NewFileSet(), node); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text.Bytes()))[:16]
}
