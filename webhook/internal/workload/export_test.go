package workload

var Strip, StripPolicy, StripNode = strip, stripPolicy, stripNode
