/* Products of 8-bit integers, and layers with such products, compiled for processors that multiply integers; see
   kernels.c.

   The products of integers are exact, so that no row depends on the rows that are computed with it. */

#define CHUNK 48 /* the number of rows that are computed together, so that they stay in the cache of a core */

/* Numbers as small as 1e-30 count as zeros, so that no quotient is infinite. */
#define TINY 1e-30f
/* The bits of infinity, and of a NaN. */
#define INFINITE 0x7f800000u
#define NO_NUMBER 0x7fc00000u

typedef uint16_t NAME(Halves) __attribute__((vector_size(2 * LANES)));

INLINE float NAME(number)(const char *x, int64_t i, const int half) {
    return half ? widen(((const uint16_t *)x)[i]) : ((const float *)x)[i];
}

/* Write each row as 8-bit integers. Zero becomes ZERO, and the number with the largest absolute value ZERO ± 127. A row
   with numbers that are not finite has NaN as its largest absolute value.

   x: (rows, dim)
   stride: the distance between the integers of rows
   integers: the result
   largest: (rows); the result; the largest absolute value of each row */
static void NAME(quantize_rows)(int64_t rows, int64_t dim, const char *x, int64_t stride, uint8_t *integers,
                                float *largest, const int half) {
    for (int64_t row = 0; row < rows; row++, x += dim * (half ? 2 : 4), integers += stride) {
        uint32_t bits = 0; /* absolute values have the order of their bits; infinity and NaN come last */
        for (int64_t i = 0; i < dim; i++) {
            const float number = NAME(number)(x, i, half);
            uint32_t size;
            __builtin_memcpy(&size, &number, sizeof size);
            size &= 0x7fffffffu;
            bits = size > bits ? size : bits;
        }
        const int is_finite = bits < INFINITE;
        if (!is_finite) bits = NO_NUMBER; /* the products become NaN, too */
        __builtin_memcpy(largest + row, &bits, sizeof bits);
        if (!is_finite) {
            memset(integers, ZERO, (size_t)dim);
            continue;
        }
        const float scale = largest[row] > TINY ? 127.0f / largest[row] : 0.0f;
        for (int64_t i = 0; i < dim; i++) integers[i] = (uint8_t)((int32_t)(NAME(number)(x, i, half) * scale + 128.5f) - 128 + ZERO);
    }
}

/* Return x Φ(x), with an absolute error below 1e-6 (Abramowitz and Stegun 1964, 7.1.26). */
INLINE NAME(Floats) NAME(gelu)(NAME(Floats) x) {
    const NAME(Floats) size = (NAME(Floats))((NAME(Bits))x & 0x7fffffffu);
    const NAME(Floats) below = 1.0f + 0.23164189f * size; /* 0.3275911 / √2 */
#if LANES == 16
    NAME(Floats) t = (NAME(Floats))_mm512_rcp14_ps((__m512)below);
    t *= 2.0f - below * t; /* faster than a quotient */
#else
    const NAME(Floats) t = 1.0f / below;
#endif
    const NAME(Floats) power = x * x * -0.72134752f; /* base 2 */
        const NAME(Ints) whole = __builtin_convertvector(power - 0.5f, NAME(Ints)); /* to the nearest, because power ≤ 0 */
    const NAME(Floats) part = power - __builtin_convertvector(whole, NAME(Floats));
    NAME(Floats) two = 1.3333558e-3f * part + 9.6181291e-3f;
    two = two * part + 5.5504109e-2f;
    two = two * part + 2.4022651e-1f;
    two = two * part + 6.9314718e-1f;
    two = two * part + 1.0f;
    two *= (NAME(Floats))((whole + 127) << 23);
    two = (NAME(Floats))((NAME(Bits))two & (NAME(Bits))(power > -100.0f)); /* else 0 */
    NAME(Floats) sum = 1.061405429f * t - 1.453152027f;
    sum = sum * t + 1.421413741f;
    sum = sum * t - 0.284496736f;
    sum = sum * t + 0.254829592f;
    /* q / 2 is 1 - Φ(|x|), so that x Φ(x) is max(x, 0) - |x| q / 2 */
    return NAME(positive)(x) - 0.5f * size * sum * t * two;
}

/* Replace negative numbers by 0. NaN stays NaN; the compiler's maximum might lose it. */
INLINE NAME(Floats) NAME(relu)(NAME(Floats) x) {
#if LANES == 16
    const __m512 zero = _mm512_setzero_ps();
    return (NAME(Floats))_mm512_mask_mov_ps((__m512)x, _mm512_cmp_ps_mask((__m512)x, zero, _CMP_LT_OQ), zero);
#else
    return (NAME(Floats))_mm256_andnot_ps(_mm256_cmp_ps((__m256)x, _mm256_setzero_ps(), _CMP_LT_OQ), (__m256)x);
#endif
}

/* Store the first `count` numbers of a vector. */
INLINE void NAME(store_some)(char *to, NAME(Floats) x, int64_t count, const int half) {
    const NAME(Halves) halves = __builtin_convertvector(NAME(rounded)(x) >> 16, NAME(Halves));
    memcpy(to, half ? (const char *)&halves : (const char *)&x, count * (half ? 2 : 4));
}

/* Compute the products of rows of integers with every `step`-th panel of weights from panel `first` on, and the activation
   of their sums.

   integers: (rows, by->inputs)
   to: (rows, by->outputs); the result */
INLINE void NAME(int8_product)(const uint8_t *integers, const float *largest, int64_t rows, const Weights *by, char *to,
                                const int activation, const int half, int64_t first, int64_t step) {
    PanelSums *const *panel_sums = SUMS_OF_PANELS;
    int32_t sums[BLOCK_ROWS * PANEL] __attribute__((aligned(64)));
    for (int64_t column = first * PANEL; column < by->outputs; column += step * PANEL)
        for (int64_t row = 0, count; row < rows; row += count) {
            count = rows - row < BLOCK_ROWS ? rows - row : BLOCK_ROWS;
            panel_sums[count - 1](integers + row * by->inputs, by->inputs, (const int8_t *)by->weight + column * by->inputs,
                                  by->start + column, sums);
            for (int64_t i = 0; i < count; i++)
                for (int64_t at = column; at < column + PANEL; at += LANES) {
                    const int64_t left = by->outputs - at;
                    const NAME(Ints) sum = *(const NAME(Ints) *)(sums + i * PANEL + at - column);
                    const NAME(Floats) scale = *(const NAME(Floats) *)(by->scale + at);
                    const NAME(Floats) bias = *(const NAME(Floats) *)((const float *)by->bias + at);
                    NAME(Floats) x = __builtin_convertvector(sum, NAME(Floats)) * scale * largest[row + i] + bias;
                    if (activation == RELU) x = NAME(relu)(x);
                    if (activation == GELU) x = NAME(gelu)(x);
                    char *here = to + ((row + i) * by->outputs + at) * (half ? 2 : 4);
                    if (left >= LANES) NAME(store_some)(here, x, LANES, half);
                    else if (left > 0) NAME(store_some)(here, x, left, half);
                }
        }
}

static void NAME(plain_product)(const uint8_t *integers, const float *largest, int64_t rows, const Weights *by, float *to) {
    NAME(int8_product)(integers, largest, rows, by, (char *)to, LINEAR, 0, 0, 1);
}

static void NAME(gelu_product)(const uint8_t *integers, const float *largest, int64_t rows, const Weights *by, float *to) {
    NAME(int8_product)(integers, largest, rows, by, (char *)to, GELU, 0, 0, 1);
}

/* Compute one share of a linear layer. Return NULL, or a message that there is no memory. Rows of x that are not finite
   become NaN.

   finite: becomes 0 if x has rows that are not finite */
INLINE const char *NAME(linear_of)(const Int8Linear *in, const Share *share, int *finite, const int activation,
                                   const int half) {
    const int64_t size = half ? 2 : 4, inputs = in->by.inputs;
    float *largest = malloc(CHUNK * (sizeof *largest + inputs));
    uint8_t *integers = (uint8_t *)(largest + CHUNK);
    if (!largest) return NO_MEMORY;
    memset(integers, ZERO, CHUNK * inputs); /* also behind the numbers of x, where weights are 0 */
    for (int64_t row = share->first, some; row < share->end; row += some) {
        some = share->end - row < CHUNK ? share->end - row : CHUNK;
        NAME(quantize_rows)(some, in->width, in->x + row * in->width * size, inputs, integers, largest, half);
        *finite &= NAME(finite)(largest, some);
        NAME(int8_product)(integers, largest, some, &in->by, in->output + row * in->by.outputs * size, activation, half,
                            share->head, share->step);
    }
    free(largest);
    return NULL;
}

static const char *NAME(activated_linear)(const Int8Linear *in, const Share *share, int *finite) {
#define OF_TYPE(activation)                                             \
    (in->half ? NAME(linear_of)(in, share, finite, activation, 1)       \
              : NAME(linear_of)(in, share, finite, activation, 0))
    return in->activation == GELU ? OF_TYPE(GELU) : in->activation == RELU ? OF_TYPE(RELU) : OF_TYPE(LINEAR);
#undef OF_TYPE
}

static const char *NAME(int8_linear)(const void *job, const Share *share) {
    int finite = 1;
    return NAME(activated_linear)(job, share, &finite);
}

/* Compute what `product` in decoder_layers.h computes, with integers as weights. */
static const char *NAME(product_of_integers)(const char *x, int64_t rows, const Weights *by, int relu, char *y, int half) {
    const Int8Linear linear = {half, relu ? RELU : LINEAR, by->inputs, *by, x, y};
    const Share all = {0, rows, 0, 1};
    int finite = 1;
    const char *problem = NAME(activated_linear)(&linear, &all, &finite);
    return problem || finite ? problem : NOT_FINITE;
}

static const char *NAME(int8_layers_of)(const AmrSearch *searches, int64_t count, int64_t rows, char *x, char *normed,
                                         char *memory, const Room *room) {
    return NAME(layers_with)(searches, count, rows, x, normed, memory, room, NAME(product_of_integers));
}

static const char *NAME(int8_recurrent_layer)(const void *job, const Share *share) {
    return NAME(recurrent_with)(job, share, NAME(product_of_integers));
}

/* Compute the self-attention of one head of a sentence. Return NULL, or a message about wrong arguments. */
static const char *NAME(int8_attention)(const Sentences *in, int64_t first, int64_t count, int64_t head, float *room) {
    return WITH_USUAL(in->d, 0, NAME(head_of_sentence), in, first, count, head, room);
}

/* The scratch memory of the layers. */
typedef struct {
    float *x, *wide, *read, *added, *largest, *attention;
    uint8_t *integers;
} NAME(Int8Room);

/* Compute the rest of a layer after its attention: output projection, feed-forward and norms.

   rows: the number of rows of `room->x`, the input of the layer, and of `room->read`, the output of the heads */
static void NAME(behind_attention)(const Int8Layers *in, int64_t layer, int64_t rows, const NAME(Int8Room) *room) {
    const Weights *by = in->products + INT8_PRODUCTS * layer;
    const char *const *norms = in->norms + INT8_NORMS * layer;
    const float *epsilons = in->epsilons + INT8_NORMS / 2 * layer;
    const int64_t dim = in->dim, inner = in->inner;
    for (int64_t row = 0; row < rows; row += CHUNK) {
        const int64_t some = rows - row < CHUNK ? rows - row : CHUNK;
        char *x = (char *)(room->x + row * dim), *added = (char *)room->added;
        NAME(quantize_rows)(some, dim, (char *)(room->read + row * dim), dim, room->integers, room->largest, 0);
        NAME(plain_product)(room->integers, room->largest, some, by + 1, room->added);
        NAME(add_and_normalize)(some, dim, x, added, norms[0], norms[1], epsilons[0], x, 0);
        NAME(quantize_rows)(some, dim, x, dim, room->integers, room->largest, 0);
        NAME(gelu_product)(room->integers, room->largest, some, by + 2, room->wide);
        NAME(quantize_rows)(some, inner, (char *)room->wide, inner, room->integers, room->largest, 0);
        NAME(plain_product)(room->integers, room->largest, some, by + 3, room->added);
        NAME(add_and_normalize)(some, dim, x, added, norms[2], norms[3], epsilons[1], x, 0);
    }
}

/* Keep the rows of a chunk whose output is needed. Return NULL, or a message about wrong arguments.

   asking: (count); the rows to keep, counted from the first row of all sentences
   begin: the first row of the chunk
   rows: the number of rows of the chunk */
static const char *NAME(keep_asking)(const int64_t *asking, int64_t count, int64_t begin, int64_t rows, int64_t dim,
                                     const NAME(Int8Room) *room) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = asking[i] - begin;
        if (OUTSIDE(row, rows) || (i && asking[i] <= asking[i - 1])) return "asking: rows that do not ascend";
        memmove(room->x + i * dim, room->x + row * dim, dim * sizeof(float));
        memmove(room->read + i * dim, room->read + row * dim, dim * sizeof(float));
    }
    return NULL;
}

/* Compute all layers of BERT (post-norm) for the sentences from `from` to before `to`. Return NULL, or a message about
   wrong arguments. */
static const char *NAME(int8_chunk)(const Int8Layers *in, int64_t from, int64_t to, const NAME(Int8Room) *room) {
    const int64_t dim = in->dim, begin = in->first[from], asked = in->asking_before[from];
    const int64_t rows = in->first[to - 1] + in->lengths[to - 1] - begin, left = in->asking_before[to] - asked;
    const float *keys = room->wide + dim, *values = keys + dim;
    const Sentences all = {0,       rows,         in->longest,  in->heads,      dim / in->heads,
                           3 * dim, 3 * dim,      3 * dim,      NULL,           NULL,
                           (char *)room->wide,    (char *)keys, (char *)values, (char *)room->read};
    memcpy(room->x, in->x + begin * dim, rows * dim * sizeof(float));
    for (int64_t layer = 0; layer < in->layers; layer++) {
        NAME(quantize_rows)(rows, dim, (char *)room->x, dim, room->integers, room->largest, 0);
        NAME(plain_product)(room->integers, room->largest, rows, in->products + INT8_PRODUCTS * layer, room->wide);
        const char *problem = NULL;
        for (int64_t i = from; i < to && !problem; i++)
            for (int64_t head = 0; head < in->heads && !problem; head++)
                problem = NAME(int8_attention)(&all, in->first[i] - begin, in->lengths[i], head, room->attention);
        if (!problem && layer + 1 == in->layers)
            problem = NAME(keep_asking)(in->asking + asked, left, begin, rows, dim, room);
        if (problem) return problem;
        NAME(behind_attention)(in, layer, layer + 1 == in->layers ? left : rows, room);
    }
    memcpy(in->output + asked * dim, room->x, left * dim * sizeof(float));
    return NULL;
}

/* Compute one share of the layers: the sentences whose first rows are in the share. Return NULL, or a message about
   wrong arguments. */
static const char *NAME(int8_layers)(const void *job, const Share *share) {
    const Int8Layers *in = job;
    const int64_t dim = in->dim, d = dim / in->heads, rows = in->longest < CHUNK ? CHUNK : in->longest;
    const int64_t wide = rows * 3 * dim > CHUNK * in->inner ? rows * 3 * dim : CHUNK * in->inner;
    const int64_t integers = rows * dim > CHUNK * in->inner ? rows * dim : CHUNK * in->inner, most = in->longest + LANES;
    const int64_t attention = 2 * d * most + SHARING * (d + most);
    float *x = malloc(sizeof *x * (2 * rows * dim + wide + CHUNK * dim + rows + attention) + integers);
    if (!x) return NO_MEMORY;
    float *read = x + rows * dim, *added = read + rows * dim, *largest = added + CHUNK * dim;
    const NAME(Int8Room) room = {x, largest + rows + attention, read, added, largest, largest + rows,
                                  (uint8_t *)(largest + rows + attention + wide)};
    int64_t from = 0, to, end = 0;
    while (from < in->sentences && in->first[from] < share->first) from++;
    while (end < in->sentences && in->first[end] < share->end) end++;
    const char *problem = NULL;
    for (; from < end && !problem; from = to) {
        int64_t some = in->lengths[from];
        for (to = from + 1; to < end && some + in->lengths[to] <= CHUNK; to++) some += in->lengths[to];
        problem = NAME(int8_chunk)(in, from, to, &room);
    }
    free(x);
    return problem;
}
#undef ZERO
#undef VECTORS
#undef BLOCK_ROWS
#undef SUMS_OF_PANELS
