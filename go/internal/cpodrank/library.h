// The header of the library that this package links: the copy beside this file or, with the tag podrank_system, what is installed.
#define PODRANK_UNSTABLE
#ifdef PODRANK_SYSTEM
#include <podrank/controller.h>
#include <podrank/probabilities.h>
#include <podrank/steer.h>
#else
#include "podrank.h"
#endif
