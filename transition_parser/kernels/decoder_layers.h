/* All layers of the decoder for the rows of a step of search, compiled once for each kind of processor; see
   `decoder_layers` in search_kernels.c.

   For a few rows, calling oneDNN takes longer than its products. Weights that are codes have their own product. */

#define TRY(call) \
    if ((problem = (call))) return problem
#define TOGETHER 8 /* the number of columns of a product whose sums are in registers */

/* Compute y = x W^T + b for a few rows. Return NULL, or a message about numbers that are not finite.

   outputs: a multiple of TOGETHER
   relu: 1 to replace negative numbers of the result by 0 */
INLINE const char *NAME(product)(const char *x, int64_t rows, int64_t inputs, const char *weight, const char *bias,
                                 int64_t outputs, const int relu, char *y, const int half) {
    const int64_t size = half ? 2 : 4, step = 2 * LANES * size, all = inputs * size;
    int finite = 1;
    for (int64_t column = 0; column < outputs; column += TOGETHER, weight += TOGETHER * all) {
        for (int64_t row = 0; row < rows; row++) {
            NAME(Floats) sum[TOGETHER];
            float sums[TOGETHER];
            for (int i = 0; i < TOGETHER; i++) sum[i] = (NAME(Floats)){0};
            for (int64_t at = 0; at < all; at += step) {
                const NAME(Pair) one = NAME(load)(x + row * all + at, half);
                for (int i = 0; i < TOGETHER; i++) {
                    const NAME(Pair) w = NAME(load)(weight + i * all + at, half);
                    sum[i] += one.a * w.a + one.b * w.b;
                }
            }
            for (int i = 0; i < TOGETHER; i += 4) NAME(sums)(sum[i], sum[i + 1], sum[i + 2], sum[i + 3], sums + i);
            for (int i = 0; i < TOGETHER; i++)
                sums[i] += half ? widen(((const uint16_t *)bias)[column + i]) : ((const float *)bias)[column + i];
            finite &= NAME(finite)(sums, TOGETHER);
            for (int i = 0; relu && i < TOGETHER; i++) sums[i] = fmaxf(sums[i], 0.0f);
            const int64_t place = row * outputs + column;
            for (int i = 0; half && i < TOGETHER; i++) ((uint16_t *)y)[place + i] = round_to_half(sums[i]);
            if (!half) memcpy((float *)y + place, sums, sizeof sums);
        }
    }
    return finite ? NULL : NOT_FINITE;
}

/* A function that computes a product as `NAME(product)` does, for one kind of weights. */
typedef const char *NAME(Product)(const char *x, int64_t rows, int64_t inputs, const char *weight, const char *bias,
                                  int64_t outputs, int relu, char *y, int half);

static const char *NAME(product_of_numbers)(const char *x, int64_t rows, int64_t inputs, const char *weight,
                                       const char *bias, int64_t outputs, int relu, char *y, int half) {
    return half ? NAME(product)(x, rows, inputs, weight, bias, outputs, relu, y, 1)
                : NAME(product)(x, rows, inputs, weight, bias, outputs, relu, y, 0);
}

/* Let the rows of each group attend to their action history. Return NULL, or a message about wrong arguments.

   newest: (rows, 2 dim); the keys and values of the last actions, which become the newest entries of the caches
   query, output: (rows, dim) */
static const char *NAME(attend_to_actions)(const Layers *in, int64_t layer, const char *newest, const char *query,
                                           char *output, const Room *room) {
    const Decoder *by = in->decoder;
    const int64_t bytes = by->heads * by->d * (by->half ? 2 : 4);
    for (const Group *group = in->group; group < in->group + in->groups; group++) {
        const int64_t rows = group->rows;
        const Share every = {0, rows, 0, 1};
        const Past past = {(int)by->half, rows, by->heads, by->d, group->steps, NULL, query, group->caches[layer],
                           group->cache_sizes[layer], group->origin, group->cache_rows[layer], group->origin_sizes,
                           group->cache_row_sizes[layer], output};
        if (past.cache_sizes[past.steps - 1] < rows) return "cache: no room for the newest rows";
        memcpy((char *)past.cache[past.steps - 1], newest, rows * 2 * bytes);
        const char *problem = NAME(cached_self_attention)(&past, &every, room);
        if (problem) return problem;
        newest += rows * 2 * bytes;
        query += rows * bytes;
        output += rows * bytes;
    }
    return NULL;
}

/* Let the rows of each group attend to words. Return NULL, or a message about wrong arguments. */
static const char *NAME(attend_to_words)(const Layers *in, int64_t layer, const char *query, char *output,
                                         const Room *room) {
    const Decoder *by = in->decoder;
    const int64_t bytes = by->heads * by->d * (by->half ? 2 : 4);
    for (const Group *group = in->group; group < in->group + in->groups; group++) {
        const Share every = {0, group->rows, 0, 1};
        const Words words = {(int)by->half, group->rows, by->heads, by->d, group->width, group->sentences, group->known,
                             group->stride, by->largest, NULL, group->sentence, group->lengths, by->roles, query,
                             group->memories[layer], by->positions[layer], group->ranks, output};
        const char *problem = NAME(cross_attention)(&words, &every, room);
        if (problem) return problem;
        query += group->rows * bytes;
        output += group->rows * bytes;
    }
    return NULL;
}

/* Compute all layers of the decoder. Return NULL, or a message about wrong arguments. */
static const char *NAME(layers_of)(const Layers *in, const Room *room, NAME(Product) *product) {
    const Decoder *by = in->decoder;
    const int half = (int)by->half;
    const int64_t dim = by->heads * by->d, rows = in->rows, all = rows * dim * (half ? 2 : 4);
    const char *problem = NULL;
    char *query = in->room, *read = query + all, *newest = read + all, *inner = newest + 2 * all, *x = in->x;
    for (int64_t layer = 0; layer < by->layers; layer++) {
        const char *const *w = by->weights + layer * LAYER_WEIGHTS;
        const float *epsilon = by->epsilons + layer * LAYER_NORMS;
        TRY(product(in->normed, rows, dim, w[0], w[1], 2 * dim, 0, newest, half));
        TRY(product(in->normed, rows, dim, w[2], w[3], dim, 0, query, half));
        TRY(NAME(attend_to_actions)(in, layer, newest, query, read, room));
        TRY(product(read, rows, dim, w[4], w[5], dim, 0, query, half));
        NAME(add_and_normalise)(rows, dim, x, query, w[6], w[7], epsilon[0], in->normed, half);
        TRY(product(in->normed, rows, dim, w[8], w[9], dim, 0, query, half));
        TRY(NAME(attend_to_words)(in, layer, query, read, room));
        TRY(product(read, rows, dim, w[10], w[11], dim, 0, query, half));
        NAME(add_and_normalise)(rows, dim, x, query, w[12], w[13], epsilon[1], in->normed, half);
        TRY(product(in->normed, rows, dim, w[14], w[15], by->inner, 1, inner, half));
        TRY(product(inner, rows, by->inner, w[16], w[17], dim, 0, query, half));
        NAME(add_and_normalise)(rows, dim, x, query, w[18], w[19], epsilon[2], in->normed, half);
    }
    return NULL;
}

static const char *NAME(decoder_layers)(const void *job, const Share *share, const Room *room) {
    const Layers *in = job;
    (void)share;
    return NAME(layers_of)(in, room, NAME(product_of_numbers));
}
#undef TOGETHER
#undef TRY
