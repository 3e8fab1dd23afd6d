package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

type result string

const (
	killed   result = "killed"
	endless  result = "endless"
	survived result = "survived"
	notBuilt result = "not built"
)

// A source is a file of the package.
type source struct{ path, text string }

// A mutant is a file in which another text replaces a part.
type mutant struct {
	source *source
	// function is the name of the function, or "package".
	function    string
	start, end  int
	replacement string
	result      result
}

func (m *mutant) text() string {
	return m.source.text[:m.start] + m.replacement + m.source.text[m.end:]
}

func (m *mutant) file() string { return filepath.Base(m.source.path) }

// String has the lines of the replaced text, without and with the mutant.
func (m *mutant) String() string {
	text := m.source.text
	start := strings.LastIndex(text[:m.start], "\n") + 1
	end := m.end + strings.Index(text[m.end:], "\n")
	line := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return strings.TrimSpace(fmt.Sprintf("%s, %s: %s => %s", m.file(), m.function, line(text[start:end]),
		line(text[start:m.start]+m.replacement+text[m.end:end])))
}

// makeMutants makes the mutants of these files, or of all.
func makeMutants(names []string) (mutants []*mutant, err error) {
	paths, err := filepath.Glob(packageDir + "/*.go")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || len(names) > 0 && !slices.Contains(names, filepath.Base(path)) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files, source := token.NewFileSet(), &source{path, string(text)}
		tree, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range tree.Decls {
			name := "package"
			if function, ok := declaration.(*ast.FuncDecl); ok {
				name = function.Name.Name
			}
			changes(declaration, func(start, end token.Pos, replacement string) {
				mutants = append(mutants, &mutant{
					source: source, function: name, replacement: replacement,
					start: files.Position(start).Offset, end: files.Position(end).Offset,
				})
			})
		}
	}
	if len(mutants) == 0 {
		err = fmt.Errorf("no files in %s: run this in the directory of the module", packageDir)
	}
	return mutants, err
}

// operators are replaced by each other.
var operators = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ,
	token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.QUO, token.AND: token.OR, token.OR: token.AND,
	token.XOR: token.OR, token.SHL: token.SHR, token.SHR: token.SHL, token.INC: token.DEC, token.DEC: token.INC,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.XOR_ASSIGN: token.ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN,
	token.SHR_ASSIGN: token.SHL_ASSIGN,
}

// names are replaced by each other.
var names = map[string]string{"true": "false", "false": "true", "min": "max", "max": "min"}

// changes calls emit with each text of a declaration that a mutant replaces.
func changes(declaration ast.Decl, emit func(start, end token.Pos, replacement string)) {
	swap := func(at token.Pos, operator token.Token) {
		if other, ok := operators[operator]; ok {
			emit(at, at+token.Pos(len(operator.String())), other.String())
		}
	}
	ast.Inspect(declaration, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec, *ast.TypeSpec, *ast.FuncType, *ast.ArrayType, *ast.FieldList:
			return false
		case *ast.BinaryExpr:
			swap(node.OpPos, node.Op)
		case *ast.UnaryExpr:
			if node.Op != token.AND {
				emit(node.OpPos, node.X.Pos(), "")
			}
		case *ast.IncDecStmt:
			swap(node.TokPos, node.Tok)
			emit(node.Pos(), node.End(), "")
		case *ast.AssignStmt:
			swap(node.TokPos, node.Tok)
			if node.Tok != token.DEFINE {
				emit(node.Pos(), node.End(), "")
			}
		case *ast.ExprStmt:
			emit(node.Pos(), node.End(), "")
		case *ast.BranchStmt:
			other := map[token.Token]string{token.CONTINUE: "break", token.BREAK: "continue"}[node.Tok]
			emit(node.Pos(), node.End(), other)
		case *ast.Ident:
			if other, ok := names[node.Name]; ok {
				emit(node.Pos(), node.End(), other)
			}
		case *ast.BasicLit:
			if number, err := strconv.ParseUint(node.Value, 0, 64); err == nil {
				emit(node.Pos(), node.End(), fmt.Sprint(number+1))
			}
		}
		return true
	})
}
