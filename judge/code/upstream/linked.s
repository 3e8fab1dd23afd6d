// Empty on purpose: an assembly file lets linked.go declare functions without bodies.
