/* What search_kernels.c compiles once for each kind of processor. NAME(x): the name of x there. LANES: how many numbers
   a vector has. */

#include "vectors.h"

#include "attention.h"

#include "continuations.h"

#include "gates.h"

static int NAME(lanes)(void) { return LANES; }
