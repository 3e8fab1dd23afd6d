package workload

var StripPolicy = stripPolicy
