package workload

var StripPolicy, StripNode = stripPolicy, stripNode
