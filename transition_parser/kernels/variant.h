/* The part of kernels.c that is compiled once for each kind of processor.

   NAME(x): the name of x for this kind of processor
   LANES: how many numbers a vector has */

#include "vectors.h"

#include "attention.h"

#include "continuations.h"

#include "gates.h"

#include "letters.h"

#include "tree_search.h"

#include "decoder_layers.h"

#include "pairs.h"

static int NAME(lanes)(void) { return LANES; }
