/* The part of kernels.c that is compiled once for each kind of processor.
   NAME(x): the name of x for this kind of processor
   LANES: how many numbers a vector has */
// clang-format off: each file uses what the ones above it define
#include "vectors.h"
#include "attention.h"
#include "continuations.h"
#include "letters.h"
#include "tree_search.h"
#include "decoder_layers.h"
#include "recurrent.h"
// clang-format on

/* The dot products of many vectors of a row with one other vector of the row. */
static void NAME(products_of_pairs)(int64_t rows, int64_t count, int64_t dim, const uint16_t *many, const float *one,
                                    float *products) {
    for (int64_t row = 0; row < rows; row++, one += dim)
        for (int64_t i = 0; i < count; i++, many += dim) {
            float sum = 0.0f;
            for (int64_t k = 0; k < dim; k++) sum += widen(many[k]) * one[k];
            *products++ = sum;
        }
}

static int NAME(lanes)(void) { return LANES; }
