module github.com/podrank/podrank/judge/drift

go 1.24
