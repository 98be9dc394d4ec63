/* All layers of the decoder of the Stack-Transformer for the hypotheses of some searches, compiled once for each kind of
   processor; see `search_amrs` in kernels.c. */

#define TRY(call) \
    if ((problem = (call))) return problem
#define FURTHER 8   /* the number of inputs after the current one whose weights are fetched into the cache */
#define TILE_ROWS 6 /* the number of rows whose sums are in registers */

/* Compute some numbers of y = x W^T + b: those of `rows` rows, at most TILE_ROWS, and of 2 LANES × `many` columns. Return
   1 if all sums are finite, else 0. The order of additions depends neither on `rows` nor on `many`.

   column: the first column
   relu: 1 to replace negative numbers of the result by 0 */
INLINE int NAME(tile)(const char *x, const Weights *by, int64_t column, int relu, char *y, const int rows, const int many,
                      const int half) {
    const int64_t size = half ? 2 : 4, inputs = by->inputs, outputs = by->outputs, wide = 2 * LANES;
    const char *weight[4];
    NAME(Pair) sum[TILE_ROWS][4];
    int finite = 1;
    for (int i = 0; i < many; i++) {
        const int64_t at = column + i * wide;
        weight[i] = (const char *)by->weight + at * inputs * size;
        for (int row = 0; row < rows; row++) sum[row][i] = (NAME(Pair)){{0}, {0}};
    }
    for (int64_t k = 0; k < inputs; k++) {
        for (int i = 0; i < many; i++) {
            const NAME(Pair) w = NAME(load)(weight[i] + k * wide * size, half);
            for (int64_t ahead = 0; ahead < wide * size; ahead += 64)
                __builtin_prefetch(weight[i] + (k + FURTHER) * wide * size + ahead);
            for (int row = 0; row < rows; row++) {
                const int64_t at = row * inputs + k;
                const float one = half ? widen(((const uint16_t *)x)[at]) : ((const float *)x)[at];
                sum[row][i].a += one * w.a;
                sum[row][i].b += one * w.b;
            }
        }
    }
    for (int i = 0; i < many; i++) {
        const int64_t at = column + i * wide;
        const NAME(Pair) bias = NAME(load)((const char *)by->bias + at * size, half);
        for (int row = 0; row < rows; row++) {
            NAME(Pair) one = {sum[row][i].a + bias.a, sum[row][i].b + bias.b};
            finite &= NAME(finite)((const float *)&one, wide);
            if (relu) one = (NAME(Pair)){NAME(positive)(one.a), NAME(positive)(one.b)};
            NAME(store)(y + (row * outputs + at) * size, one, half);
        }
    }
    return finite;
}

/* The tiles by their number of rows. A few rows take several columns at once, so that sums do not wait for each other. */
#define TILE_OF(rows, many)                                                                                            \
    static __attribute__((noinline)) int NAME(tile_##rows##_##many)(const char *x, const Weights *by, int64_t column, \
                                                                    int relu, char *y, int half) {                  \
        return half ? NAME(tile)(x, by, column, relu, y, rows, many, 1)                                             \
                    : NAME(tile)(x, by, column, relu, y, rows, many, 0);                                            \
    }
TILE_OF(1, 4) TILE_OF(1, 1) TILE_OF(2, 2) TILE_OF(2, 1) TILE_OF(3, 1) TILE_OF(4, 1) TILE_OF(5, 1) TILE_OF(6, 1)
#undef TILE_OF

/* Compute y = x W^T + b. Return NULL, or a message about numbers that are not finite.

   by: weights that are not integers
   relu: 1 to replace negative numbers of the result by 0 */
static const char *NAME(product)(const char *x, int64_t rows, const Weights *by, int relu, char *y, int half) {
    static int (*const tiles[])(const char *, const Weights *, int64_t, int, char *, int) = {
        NAME(tile_1_1), NAME(tile_2_1), NAME(tile_3_1), NAME(tile_4_1), NAME(tile_5_1), NAME(tile_6_1)};
    const int64_t size = half ? 2 : 4, wide = 2 * LANES;
    int finite = 1;
    for (int64_t column = 0, more; column < by->outputs; column += more * wide) {
        more = rows > 2 ? 1 : rows == 2 ? 2 : 4;
        if (column + more * wide > by->outputs) more = 1;
        for (int64_t row = 0, count; row < rows; row += count) {
            count = rows - row < TILE_ROWS ? rows - row : TILE_ROWS;
            int (*const tile)(const char *, const Weights *, int64_t, int, char *, int) =
                more == 4 ? NAME(tile_1_4) : more == 2 ? NAME(tile_2_2) : tiles[count - 1];
            finite &= tile(x + row * by->inputs * size, by, column, relu, y + row * by->outputs * size, half);
        }
    }
    return finite ? NULL : NOT_FINITE;
}

/* A function that computes a product as `NAME(product)` does, for one kind of weights. */
typedef const char *NAME(Product)(const char *x, int64_t rows, const Weights *by, int relu, char *y, int half);

/* Compute all layers of the decoder. Return NULL, or a message about numbers that are not finite.

   searches: (count); the searches, whose rows follow each other
   rows: the number of rows of all searches
   x: (rows, dim); the input of the first layer; changes in place
   normed: (rows, dim); the norm of x; becomes the norm of the output of the last layer
   memory: (rows, 4 dim + inner) */
static const char *NAME(layers_with)(const AmrSearch *searches, int64_t count, int64_t rows, char *x, char *normed,
                                     char *memory, const Room *room, NAME(Product) *product) {
    const Network *by = searches->network;
    const int half = (int)by->half;
    const int64_t dim = by->heads * by->d, bytes = dim * (half ? 2 : 4), all = rows * bytes;
    const char *problem = NULL;
    char *query = memory, *read = query + all, *newest = read + all, *inner = newest + 2 * all;
    for (int64_t layer = 0; layer < by->layers; layer++) {
        const Weights *const *w = by->products + layer * LAYER_PRODUCTS;
        const char *const *norm = by->norms + layer * 2 * LAYER_NORMS;
        const float *epsilon = by->epsilons + layer * LAYER_NORMS;
        TRY(product(normed, rows, w[0], 0, newest, half));
        TRY(product(normed, rows, w[1], 0, query, half));
        int64_t at = 0;
        for (const AmrSearch *search = searches; search < searches + count; at += search++->rows * bytes)
            TRY(NAME(past)(search, layer, newest + 2 * at, query + at, read + at, room));
        TRY(product(read, rows, w[2], 0, query, half));
        NAME(add_and_normalize)(rows, dim, x, query, norm[0], norm[1], epsilon[0], normed, half);
        TRY(product(normed, rows, w[3], 0, query, half));
        at = 0;
        for (const AmrSearch *search = searches; search < searches + count; at += search++->rows * bytes)
            TRY(NAME(words)(search, layer, query + at, read + at, room));
        TRY(product(read, rows, w[4], 0, query, half));
        NAME(add_and_normalize)(rows, dim, x, query, norm[2], norm[3], epsilon[1], normed, half);
        TRY(product(normed, rows, w[5], 1, inner, half));
        TRY(product(inner, rows, w[6], 0, query, half));
        NAME(add_and_normalize)(rows, dim, x, query, norm[4], norm[5], epsilon[2], normed, half);
    }
    return NULL;
}

static const char *NAME(layers_of)(const AmrSearch *searches, int64_t count, int64_t rows, char *x, char *normed,
                                   char *memory, const Room *room) {
    return NAME(layers_with)(searches, count, rows, x, normed, memory, room, NAME(product));
}
#undef TRY
