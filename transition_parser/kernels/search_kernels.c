/* Attention in search and in encoders, the gates of the encoder of SPA-DP, the letters of words, and the steps of
   search, on CPUs.

   Each hypothesis (in encoders, each word) reads the keys and values that it may see from the place where they are
   stored. No mask is made, and nothing is computed for keys and values that it may not see.

   Numbers are float, or bfloat16 where `half` is 1. Sums are computed in float. Dimensions: N queries, B sentences,
   R rows (hypotheses), H heads of d numbers each, where d is a multiple of 32, and dim = H d.

   Functions return NULL, or a message about wrong arguments. search_kernels.py checks types and sizes. The functions
   here check each index before they use it. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "steps.h"
#include "threads.h"

#include "tree_beam.h"

#define INLINE static inline __attribute__((always_inline))
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__) /* numbers the lanes of x, then the lanes of y */
#else
#error "a compiler with __builtin_shufflevector is needed: gcc 12 or newer, or clang"
#endif

/* Call the function such that `half` and the usual values of d are constants for the compiler. */
#define SPECIALISE(half, d, function, ...) \
    ((half) ? WITH_USUAL(d, 1, function, __VA_ARGS__) : WITH_USUAL(d, 0, function, __VA_ARGS__))
#define WITH_USUAL(d, half, function, ...)             \
    ((d) == 64   ? function(__VA_ARGS__, 64, half)     \
     : (d) == 32 ? function(__VA_ARGS__, 32, half)     \
                 : function(__VA_ARGS__, (d), half))

#define BLOCK 16         /* the largest number of queries of one sentence that share the keys that are read */
#define TILE 16          /* the number of keys that a block of queries shares at a time */
#define SHARING 4        /* the number of queries that share keys in registers; the number of rows of `weigh_four` */
#define AHEAD 12         /* the number of pointers after the last key that may be read */
#define NEAR (256 << 10) /* the bytes of keys and values that stay in the cache of a processor's core */
#define AS_MANY_CODES 16 /* the number of products of codes that take about as long as one number of a key */
#define AS_LONG_AS 8     /* the numbers of keys that take about as long as one number of a row of gates */
/* A task whose keys have fewer numbers in all runs in one thread, because starting a second thread takes about as long
   as the task. */
#define WORTH_A_THREAD (1 << 19)

static const char *const NO_MEMORY = "no memory for search";
static const char *const NOT_FINITE = "the products of the decoder are not finite";

#define MOST_LETTERS 64 /* the largest number of letters of a word */

typedef struct {
    int64_t most, symbols, windows, filters;
    const int64_t *sizes, *letters;
    const float *tables, *biases;
    float *output;
} Letters;

typedef struct {
    int half;
    int64_t queries, heads, d, steps;
    const int32_t *rows;
    const char *query, *const *cache;
    const int64_t *cache_sizes;
    const int32_t *const *origin, *const *cache_row;
    const int64_t *origin_sizes, *cache_row_sizes;
    char *output;
} Past;

typedef struct {
    int half;
    int64_t queries, heads, d, width, sentences, known, stride, largest;
    const int32_t *rows, *sentence, *lengths, *roles;
    const char *query, *memory, *positions;
    const int64_t *const *ranks;
    char *output;
} Words;

/* Strides are in numbers. */
typedef struct {
    int half;
    int64_t rows, longest, heads, d, query_stride, key_stride, value_stride;
    const int32_t *first, *lengths;
    const char *query, *keys, *values;
    char *output;
} Sentences;

/* Strides are in numbers. */
typedef struct {
    int64_t heads, d, rows, items, stored, indicators, indicator_stride, index_strides[2], unseen_stride;
    const char *query, *keys, *values, *key_indicators, *value_indicators;
    const int64_t *item, *index;
    const uint8_t *unseen;
    char *output;
} Indicated;

/* See `decoder_layers`. `room` has space for 4 dim + inner numbers a row.

   rows: the number of rows of all groups */
typedef struct {
    const Decoder *decoder;
    int64_t groups, rows;
    const Group *group;
    char *x, *normed, *room;
} Layers;
enum { LAYER_WEIGHTS = 20, LAYER_NORMS = 3 };

/* The weights of a linear layer as codes.

   weight: (outputs / PANEL, inputs / 4, PANEL, 4), rounded up
   start: (outputs), rounded up to a multiple of PANEL; the start of each sum, because the code of zero is 128
   scale, bias: (outputs), rounded up likewise
   inputs: a multiple of 4 */
typedef struct {
    const int8_t *weight;
    const int32_t *start;
    const float *scale, *bias;
    int64_t inputs, outputs;
} Coded;
enum { PLAIN, RELU, GELU };
#define PANEL 64 /* the number of columns of a product whose weights lie together */

/* The arguments of `coded_linear`. `width` is the number of inputs, at most `by.inputs`. */
typedef struct {
    int half, activation;
    int64_t width;
    Coded by;
    const char *x;
    char *output;
} CodedLinear;

/* See `coded_layers`. asking_before: (sentences + 1); the number of `asking` rows before each sentence */
typedef struct {
    int64_t dim, heads, inner, layers, sentences, longest;
    const Coded *products;
    const char *const *norms;
    const float *epsilons, *x;
    const int32_t *first, *lengths;
    const int64_t *asking, *asking_before;
    float *output;
} CodedLayers;
enum { CODED_PRODUCTS = 4, CODED_NORMS = 4 };

/* The lexical prior: numbers that are added to the scores of some tokens. `spans` is NULL to add nothing. */
typedef struct {
    int64_t rows, entries;
    const int64_t *spans, *offsets, *tokens;
    const char *values;
} Prior;

/* See `legal_scores`. place: the index of each token of the vocabulary among the scored tokens, or -1 */
typedef struct {
    int half;
    int64_t dim, actions, vocabulary;
    const char *x, *weight;
    const int64_t *tokens;
    const float *legal;
    Prior prior;
    const int32_t *place;
    char *scores;
} Output;

/* Scratch memory for the scores of legal actions of SHARING rows. */
typedef struct {
    const char **weights;
    int64_t *places;
    float *products;
} LegalRoom;

typedef struct {
    int half;
    int64_t sentences, width, actions, beam;
    const char *scores;
    const int64_t *scores_row;
    const float *legal, *totals;
    float *best, *added;
    int64_t *index;
} Continuations;

/* Strides are in numbers. */
typedef struct {
    int half;
    int64_t rows, read, width, found_stride, words_stride;
    const char *found, *recurrent, *words;
    char *output;
} Gates;

/* The keys that queries see. Each value stands behind its key in memory. AHEAD copies of the last pointer follow. */
typedef struct {
    const char **at;
    int64_t count;
} Keys;

/* A block of queries, `all` bytes apart, in `heads` heads from `head` on. */
typedef struct {
    const char *query;
    char *output;
    int64_t queries, head, heads, all;
} Block;

/* The share of one thread: the queries from `first` to before `end`, and every `step`-th head from `head` on. */
typedef struct {
    int64_t first, end, head, step;
} Share;

/* The scratch memory of one thread. */
typedef struct {
    const char **every, **ranked, **added;
    float *scores, *sums;
} Room;

static void end_keys(const Keys *keys) {
    for (int i = 0; i < AHEAD && keys->count; i++) keys->at[keys->count + i] = keys->at[keys->count - 1];
}

/* Collect the keys of the action history of a row of the last step. Return NULL, or a message about wrong arguments.

   bytes: the size of a row of the cache */
static const char *keys_of_descent(const Past *past, int64_t row, int64_t bytes, Keys *keys) {
    for (int64_t step = past->steps - 1; step >= 0; step--) {
        const int32_t *cache_row = past->cache_row ? past->cache_row[step] : NULL, *origin = past->origin[step];
        if (cache_row && OUTSIDE(row, past->cache_row_sizes[step])) return "rows or origin: beyond cache_row";
        const int64_t stored = cache_row ? cache_row[row] : row;
        if (OUTSIDE(stored, past->cache_sizes[step])) return "rows, origin or cache_row: beyond the cache";
        if (origin && OUTSIDE(row, past->origin_sizes[step])) return "rows or origin: beyond the origins of a step";
        keys->at[step] = past->cache[step] + stored * bytes;
        if (origin) row = origin[row];
    }
    keys->count = past->steps;
    end_keys(keys);
    return NULL;
}

static int64_t row_of(const Words *words, int64_t query) { return words->rows ? words->rows[query] : query; }

/* Collect the keys of all words of a query's sentence. Return NULL, or a message about wrong arguments.

   bytes: the size of the keys and values of a word */
static const char *keys_of_sentence(const Words *words, int64_t query, int64_t bytes, Keys *keys) {
    const int64_t row = row_of(words, query);
    if (OUTSIDE(row, words->known)) return "rows: beyond the rows that there are";
    const int64_t sentence = words->sentence[row];
    if (OUTSIDE(sentence, words->sentences)) return "sentence: beyond the sentences that there are";
    keys->count = words->lengths[sentence];
    if (OUTSIDE(keys->count, words->width + 1)) return "lengths: beyond the words that there are";
    const char *memory = words->memory + sentence * words->width * bytes;
    for (int64_t word = 0; word < keys->count; word++) keys->at[word] = memory + word * bytes;
    end_keys(keys);
    return NULL;
}

/* Return 1 if the query `count` places after this query is of the same sentence, else 0. The row of this query must
   have been checked. */
static int same_sentence(const Words *words, int64_t query, int64_t count) {
    const int64_t row = row_of(words, query + count);
    return !OUTSIDE(row, words->known) && words->sentence[row] == words->sentence[row_of(words, query)];
}

/* Select the keys that heads of a role see from a query's row. Return NULL, or a message about wrong arguments.

   every: the keys of all words of the sentence
   added: the state positions of the selected keys; NULL to collect none */
static const char *keys_of_role(const Words *words, int64_t query, int32_t role, const Keys *every, Keys *keys,
                                Keys *added) {
    const int64_t *ranks = words->ranks[role] + row_of(words, query) * words->stride;
    const int64_t bytes = words->heads * words->d * (words->half ? 2 : 4);
    int64_t sign = 0;
    for (int64_t word = 0; word < every->count; word++) {
        sign |= ranks[word];
        if (ranks[word] <= 0) continue;
        if (added) {
            const int64_t rank = ranks[word] < words->largest ? ranks[word] : words->largest;
            added->at[keys->count] = words->positions + (role * (words->largest + 1) + rank) * bytes;
        }
        keys->at[keys->count++] = every->at[word];
    }
    end_keys(keys);
    if (added) {
        added->count = keys->count;
        end_keys(added);
    }
    return sign < 0 ? "ranks: below 0" : NULL;
}

/* Collect the items that a head sees from a row, and the indicators of these items. Return NULL, or a message about
   wrong arguments.

   items: the keys, or the values
   indicators: the indicators of keys, or of values */
static const char *items_of_row(const Indicated *in, int64_t row, int64_t head, const char *items,
                                const char *indicators, Keys *seen, Keys *indicated) {
    const int64_t bytes = in->d * (int64_t)sizeof(float);
    const int64_t *index = in->index + head * in->index_strides[0] + row * in->index_strides[1];
    const int64_t *item = in->item ? in->item + row * in->items : NULL;
    const uint8_t *unseen = in->unseen ? in->unseen + row * in->unseen_stride : NULL;
    items += (item ? head : head * in->rows + row) * in->stored * bytes;
    indicators += head * in->indicator_stride * (int64_t)sizeof(float);
    seen->count = 0;
    for (int64_t i = 0; i < in->items; i++) {
        if (unseen && unseen[i]) continue;
        const int64_t stored = item ? item[i] : i;
        if (OUTSIDE(stored, in->stored)) return "item: beyond the items that there are";
        if (OUTSIDE(index[i], in->indicators)) return "index: beyond the indicators that there are";
        seen->at[seen->count] = items + stored * bytes;
        indicated->at[seen->count++] = indicators + index[i] * bytes;
    }
    indicated->count = seen->count;
    end_keys(seen);
    end_keys(indicated);
    return NULL;
}

int most_lanes = 0; /* the largest number of lanes of vectors, set from Python; 0 for no limit but the processor's */

/* The processor features of each variant, listed once: the variant is compiled for these features, and it is used if
   the processor has them. */
#define AVX512(F, AND)                                                                                          \
    F("avx512f") AND F("avx512bw") AND F("avx512dq") AND F("avx512vl") AND F("avx2") AND F("fma") AND F("bmi") \
        AND F("bmi2")
#define AVX2(F, AND) F("avx2") AND F("fma") AND F("bmi") AND F("bmi2")
#define ITSELF(feature) feature
#define COMMA ,

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PRAGMA(text) _Pragma(#text)
#define COMPILE_FOR(...) PRAGMA(GCC target(__VA_ARGS__))
#pragma GCC push_options
COMPILE_FOR(AVX512(ITSELF, COMMA))
#define LANES 16
#define NAME(x) x##_avx512
#include "variant.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#pragma GCC push_options
COMPILE_FOR(AVX2(ITSELF, COMMA))
#define LANES 8
#define NAME(x) x##_avx2
#include "variant.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#pragma GCC push_options
COMPILE_FOR(AVX512(ITSELF, COMMA), "avx512vnni")
#define LANES 16
#define NAME(x) x##_avx512
#include "codes.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#define USABLE(lanes, FEATURES) \
    ((most_lanes == 0 || most_lanes >= (lanes)) && FEATURES(__builtin_cpu_supports, &&))
#define HAS_CODES (USABLE(16, AVX512) && __builtin_cpu_supports("avx512vnni"))
#define CODED(function) function##_avx512
#define VARIANT(function) \
    (USABLE(16, AVX512) ? function##_avx512 : USABLE(8, AVX2) ? function##_avx2 : function##_any)
#else
#define HAS_CODES 0
#define CODED(function) NULL
#define VARIANT(function) function##_any
#endif
#define LANES 4
#define NAME(x) x##_any
#include "variant.h"

/* For tests: the number of lanes in use, and the processor features that 16 and 8 lanes need. */
int lanes(void) { return VARIANT(lanes)(); }
const char *const features_of_16 = AVX512(ITSELF, " "), *const features_of_8 = AVX2(ITSELF, " ");

typedef const char *Task(const void *job, const Share *share, const Room *room);

/* One thread's share of a task. Its scratch memory has room for `keys` keys. */
typedef struct {
    Task *task;
    const void *job;
    Share share;
    int64_t keys, heads, d;
    const char *problem;
} Work;

static void *worked(void *argument) {
    Work *work = argument;
    const int64_t queries = work->share.end - work->share.first < BLOCK ? work->share.end - work->share.first : BLOCK;
    const int64_t pointers = work->keys + AHEAD, heads = work->heads * (queries < 2 ? 2 : queries);
    const int64_t floats = heads * (work->keys + 3 + work->d);
    const char **every = malloc(3 * pointers * sizeof *every + floats * sizeof(float));
    if (every) {
        float *sums = (float *)(every + 3 * pointers);
        const Room room = {every, every + pointers, every + 2 * pointers, sums + heads * work->d, sums};
        work->problem = work->task(work->job, &work->share, &room);
    } else {
        work->problem = NO_MEMORY;
    }
    free(every);
    return NULL;
}

/* Distribute a task over threads: by queries where there are many queries, else by heads. Return NULL, or a message
   about wrong arguments. The results do not depend on the distribution.

   numbers: how many numbers all keys of the task have */
static const char *in_shares(Task *task, const void *job, int threads, int64_t numbers, int64_t queries, int64_t keys,
                             int64_t heads, int64_t d) {
    Work works[THREADS];
    const int by_query = queries >= 2 * BLOCK * threads;
    int count = threads < THREADS ? threads : THREADS;
    if (!by_query && count > heads) count = (int)heads;
    if (count < 1 || numbers < WORTH_A_THREAD) count = 1;
    for (int i = 0; i < count; i++) {
        const Share some = {queries * i / count, queries * (i + 1) / count, 0, 1}, every = {0, queries, i, count};
        works[i] = (Work){task, job, by_query ? some : every, keys, heads, d, NULL};
    }
    in_threads(worked, works, sizeof *works, count);
    for (int i = 0; i < count; i++)
        if (works[i].problem) return works[i].problem;
    return NULL;
}

/* Copy some rows. Return NULL, or a message about wrong arguments.

   from: (size, bytes)
   rows: (count); the rows of `from` to copy
   to: (count, bytes); the result */
const char *copy_rows(const char *from, int64_t size, const int32_t *rows, int64_t count, int64_t bytes, char *to) {
    for (int64_t i = 0; i < count; i++) {
        if (OUTSIDE(rows[i], size)) return "cache_row: beyond the cache";
        memcpy(to + i * bytes, from + rows[i] * bytes, bytes);
    }
    return NULL;
}

/* Compute self-attention to the action history of each hypothesis. Return NULL, or a message about wrong arguments.

   rows: (N); the row of the last step that each query belongs to; NULL for the first N rows
   query: (N, dim)
   cache[s]: (R_s, 2 dim); keys and values of the actions of step s; the last step is the current one
   origin[s]: (R_s); the row of step s - 1 that each row of step s continues; NULL where each row continues the row of
       the same number, and at the first step
   cache_row[s]: (R_s); the row of cache[s] that belongs to each row of step s; NULL where the numbers are equal;
       cache_row itself is NULL where this holds for all steps
   cache_sizes, origin_sizes, cache_row_sizes: (steps); the numbers of rows of each array
   output: (N, dim); the result */
const char *cached_self_attention(int half, int threads, int64_t queries, int64_t heads, int64_t d, int64_t steps,
                                  const int32_t *rows, const char *query, const char *const *cache,
                                  const int64_t *cache_sizes, const int32_t *const *origin,
                                  const int64_t *origin_sizes, const int32_t *const *cache_row,
                                  const int64_t *cache_row_sizes, char *output) {
    const Past past = {half,   queries,   heads,        d,               steps, rows, query, cache, cache_sizes,
                       origin, cache_row, origin_sizes, cache_row_sizes, output};
    return in_shares(VARIANT(cached_self_attention), &past, threads, queries * steps * heads * d, queries, steps, heads,
                     d);
}

/* Compute cross-attention whose heads see all words, or the words on the stack, or the words in the buffer. The output
   is 0 for a head that sees no word. Return NULL, or a message about wrong arguments.

   known: the number R of rows
   kinds: the number of arrays in `ranks`
   stride: the distance between the rows of ranks, in numbers
   rows: (N); the row that each query belongs to; NULL for the first N rows
   query: (N, dim)
   memory: (B, width, 2 dim); keys and values of the words
   sentence: (R); the sentence of each row
   lengths: (B); the number of words of each sentence
   roles: (H); the index in `ranks` of the words that a head sees; -1 for heads that see all words
   ranks[role]: (R, width); k for the k-th word from the top of the stack or the front of the buffer, 0 for words that
       must not be seen
   positions: (kinds, largest + 1, dim); the vector that is added to the keys of words of each rank; ranks above
       `largest` share the last vector; NULL to add nothing
   output: (N, dim); the result */
const char *cross_attention(int half, int threads, int64_t queries, int64_t heads, int64_t d, int64_t sentences,
                            int64_t width, int64_t known, int64_t kinds, int64_t stride, int64_t largest,
                            const int32_t *rows, const char *query, const char *memory,
                            const int32_t *sentence, const int32_t *lengths, const int32_t *roles,
                            const int64_t *const *ranks, const char *positions, char *output) {
    const Words words = {half,     queries, heads, d,     width,  sentences, known, stride, largest, rows,
                         sentence, lengths, roles, query, memory, positions, ranks, output};
    for (int64_t head = 0; head < heads; head++)
        if (roles[head] < -1 || roles[head] >= kinds) return "roles: beyond the ranks that there are";
    return in_shares(VARIANT(cross_attention), &words, threads, queries * width * heads * d, queries, width, heads, d);
}

/* Compute all layers of a decoder in a step of search. Return NULL, or a message about wrong arguments.

   group: (groups); the rows of all groups follow each other
   x: (N, dim); the input of the first layer; changes in place
   normed: (N, dim); the norm of x; becomes the norm of the output of the last layer */
const char *decoder_layers(const Decoder *decoder, int64_t groups, const Group *group, char *x, char *normed) {
    int64_t rows = 0, keys = 0;
    for (int64_t head = 0; head < decoder->heads; head++)
        if (decoder->roles[head] < -1 || decoder->roles[head] >= decoder->kinds)
            return "roles: beyond the ranks that there are";
    for (int64_t i = 0; i < groups; i++) {
        const int64_t most = group[i].steps > group[i].width ? group[i].steps : group[i].width;
        rows += group[i].rows;
        if (most > keys) keys = most;
    }
    const int coded = decoder->layers && !decoder->weights[1];
    if (coded && !HAS_CODES) return "weights: codes, which are not for this processor";
    char *room = malloc(rows * (4 * decoder->heads * decoder->d + decoder->inner) * (decoder->half ? 2 : 4));
    if (!room) return NO_MEMORY;
    const Layers in = {decoder, groups, rows, group, x, normed, room};
    Task *task = coded ? CODED(coded_decoder_layers) : VARIANT(decoder_layers);
    const char *problem = in_shares(task, &in, 1, 0, rows, keys, decoder->heads, decoder->d);
    free(room);
    return problem;
}

/* Compute the self-attention of the words of each sentence. Return NULL, or a message about wrong arguments.

   rows: the number N of words
   longest: the largest number of words that a sentence may have
   query_stride, key_stride, value_stride: the distances between the rows of query, keys and values, in numbers
   first: (sentences); the first row of each sentence
   lengths: (sentences); the number of words of each sentence
   query, keys, values: (N, dim)
   output: (N, dim); the result; rows outside all sentences stay unchanged */
const char *self_attention(int half, int threads, int64_t rows, int64_t sentences, int64_t longest, int64_t heads,
                           int64_t d, int64_t query_stride, int64_t key_stride, int64_t value_stride,
                           const int32_t *first, const int32_t *lengths, const char *query, const char *keys,
                           const char *values, char *output) {
    const Sentences in = {half,         rows,  longest, heads, d,    query_stride, key_stride,
                          value_stride, first, lengths, query, keys, values,       output};
    return in_shares(VARIANT(self_attention), &in, threads, rows * longest * heads * d, sentences, 0, heads, d);
}

/* Compute attention to items. Vectors that encode a structure, the indicators, are added to keys and values. The output
   is 0 for a query that sees no item. Return NULL, or a message about wrong arguments.

   indicator_stride: the distance between the heads of indicators, in numbers
   index_strides: the distances between the heads and between the rows of `index`, in numbers
   unseen_stride: the distance between the rows of `unseen`
   query: (H, R, d)
   keys, values: (H, R, stored, d), where `stored` is `items`; with `item`, (H, stored, d)
   key_indicators, value_indicators: (H, indicators, d); the vectors that are added to keys and to values
   item: (R, items); the index of each item in the stored keys and values; NULL if each row has its own items
   index: (H, R, items); the indicator of each item
   unseen: (R, items); 1 for items that must not be seen; NULL to show all items
   output: (H, R, d); the result */
const char *indicated_attention(int threads, int64_t heads, int64_t d, int64_t rows, int64_t items, int64_t stored,
                                int64_t indicators, int64_t indicator_stride, const int64_t *index_strides,
                                int64_t unseen_stride, const char *query, const char *keys, const char *values,
                                const char *key_indicators, const char *value_indicators, const int64_t *item,
                                const int64_t *index, const uint8_t *unseen, char *output) {
    const Indicated in = {heads, d, rows, items, stored, indicators, indicator_stride,
                          {index_strides[0], index_strides[1]}, unseen_stride,
                          query, keys, values, key_indicators, value_indicators, item, index, unseen, output};
    return in_shares(VARIANT(indicated_attention), &in, threads, rows * items * heads * d, rows, items, heads, d);
}

/* Add to x in place, and compute the layer norm of the sum.

   x: (R, dim); changed in place
   added: (R, dim)
   weight, bias: (dim); of the layer norm
   normal: (R, dim); the result */
void add_and_normalise(int half, int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
                       const char *bias, float epsilon, char *normal) {
    VARIANT(add_and_normalise)(rows, dim, x, added, weight, bias, epsilon, normal, half);
}

/* Return 1 if layers with codes as weights can be computed on this processor, else 0. */
int has_codes(void) { return HAS_CODES; }

/* Compute a linear layer whose weights are codes: activation(x W^T + b). Return NULL, or a message about wrong
   arguments.

   width: the number of inputs
   activation: PLAIN, RELU or GELU
   x: (rows, width)
   output: (rows, by->outputs); the result */
const char *coded_linear(int half, int threads, int activation, int64_t rows, int64_t width, const Coded *by,
                         const char *x, char *output) {
    if (!HAS_CODES) return "coded_linear: not for this processor";
    const CodedLinear in = {half, activation, width, *by, x, output};
    const int64_t panels = (by->outputs + PANEL - 1) / PANEL;
    return in_shares(CODED(coded_linear), &in, threads, rows * width * by->outputs / AS_MANY_CODES, rows, 0, panels, 0);
}

/* Compute layers of BERT (post-norm, GELU) over sentences, with products of 8-bit codes. Return NULL, or a message
   about wrong arguments.

   Threads share the sentences if there are at least 2 BLOCK rows for each thread.

   rows: the number of rows of all sentences, which stand one after another
   asked: the number of rows whose output is needed
   dim, inner: multiples of PANEL
   products: (layers, 4); queries, keys and values together; the output projection of attention; the two of feed-forward
   norms: (layers, 4); weight and bias of the norms after attention and after feed-forward
   epsilons: (layers, 2)
   first, lengths: (sentences); the first row of each sentence, and the number of its rows
   asking: (asked); the rows whose output is needed, in ascending order
   x: (rows, dim)
   output: (asked, dim); the result */
const char *coded_layers(int threads, int64_t rows, int64_t sentences, int64_t longest, int64_t asked, int64_t dim,
                         int64_t heads, int64_t inner, int64_t layers, const Coded *products, const char *const *norms,
                         const float *epsilons, const int32_t *first, const int32_t *lengths, const int64_t *asking,
                         const float *x, float *output) {
    if (!HAS_CODES) return "coded_layers: not for this processor";
    int64_t *asking_before = malloc((sentences + 1) * sizeof *asking_before), row = 0, ask = 0;
    const char *problem = NULL;
    if (!asking_before) return NO_MEMORY;
    for (int64_t i = 0; i < sentences && !problem; row += lengths[i++]) {
        if (first[i] != row || OUTSIDE(lengths[i], longest + 1) || row + lengths[i] > rows)
            problem = "first or lengths: sentences that do not follow one another, or too many rows";
        asking_before[i] = ask;
        while (ask < asked && asking[ask] < row + lengths[i]) ask++;
    }
    asking_before[sentences] = ask;
    if (!problem && ask < asked) problem = "asking: beyond the rows that there are";
    const CodedLayers in = {dim,      heads, inner, layers,  sentences, longest,       products, norms,
                            epsilons, x,     first, lengths, asking,    asking_before, output};
    const int64_t work = rows * dim * inner * layers / AS_MANY_CODES;
    if (!problem) problem = in_shares(CODED(coded_layers), &in, threads, work, rows, 0, 1, 0);
    free(asking_before);
    return problem;
}

/* Compute the dot products of `count` vectors of each row with one other vector of the row.

   many: (rows, count, dim); bfloat16
   one: (rows, dim)
   products: (rows, count); the result */
void products_of_pairs(int64_t rows, int64_t count, int64_t dim, const uint16_t *many, const float *one,
                       float *products) {
    VARIANT(products_of_pairs)(rows, count, dim, many, one, products);
}

/* Compute the scores of actions. Return NULL, or a message about wrong arguments.

   x: (N, dim); the outputs of the decoder
   weight: (vocabulary, dim); the vectors of all tokens
   tokens: (actions); the tokens to score
   rows: (N); the hypothesis that each output belongs to; NULL for the first N hypotheses
   legal: (hypotheses, actions); 1, 0 or -1
   lexicon_rows, entries: the numbers of rows of the lexicon, and of `prior_tokens`
   spans: (hypotheses); the lexicon row of each current span; NULL for no prior
   offsets: (lexicon_rows + 1); row r has the entries from offsets[r] to before offsets[r + 1]
   prior_tokens, values: (entries); the tokens of each lexicon row, and the numbers that are added to their scores
   scores: (N, actions); the result; any number for an action whose legality is 0 */
const char *legal_scores(int half, int64_t count, int64_t dim, int64_t hypotheses, int64_t actions, int64_t vocabulary,
                         const char *x, const char *weight, const int64_t *tokens, const int64_t *rows,
                         const float *legal, int64_t lexicon_rows, int64_t entries, const int64_t *spans,
                         const int64_t *offsets, const int64_t *prior_tokens, const char *values, char *scores) {
    const int64_t pointers = actions + AHEAD;
    const char **weights = malloc(pointers * (sizeof *weights + sizeof(int64_t) + SHARING * sizeof(float)) +
                                  vocabulary * sizeof(int32_t));
    if (!weights) return NO_MEMORY;
    int64_t *places = (int64_t *)(weights + pointers);
    const LegalRoom room = {weights, places, (float *)(places + pointers)};
    int32_t *place = (int32_t *)(room.products + SHARING * pointers);
    const Prior prior = {lexicon_rows, entries, spans, offsets, prior_tokens, values};
    const Output output = {half, dim, actions, vocabulary, x, weight, tokens, legal, prior, place, scores};
    const char *problem = NULL;
    memset(place, -1, vocabulary * sizeof *place);
    for (int64_t i = 0; i < actions && !problem; i++) {
        if (OUTSIDE(tokens[i], vocabulary))
            problem = "tokens: beyond the vocabulary";
        else
            place[tokens[i]] = (int32_t)i;
    }
    for (int64_t first = 0; first < count && !problem; first += SHARING) {
        const int64_t some = count - first < SHARING ? count - first : SHARING;
        int64_t of_rows[SHARING];
        for (int64_t i = 0; i < some; i++) {
            of_rows[i] = rows ? rows[first + i] : first + i;
            if (OUTSIDE(of_rows[i], hypotheses)) problem = "rows: beyond the hypotheses that there are";
        }
        if (!problem) problem = VARIANT(legal_scores)(&output, first, some, of_rows, &room);
    }
    free(weights);
    return problem;
}

/* Find the best continuations of each sentence's hypotheses, by their totals, best first. Of continuations with equal
   totals the first wins. Return NULL, or a message about wrong arguments.

   scores: (N, actions); the scores before the softmax
   rows: (N); the hypothesis, of B × width, that each row of scores belongs to (of several rows the last counts); NULL
       for the first N hypotheses. Other hypotheses are dead, or have one legal action, which is certain.
   legal: (B × width, actions); 1, 0 or -1
   totals: (B × width); the totals of the hypotheses; below DEAD for dead hypotheses
   best: (B, beam); the result; the totals of the continuations; below DEAD where there are no more
   added: (B, beam); the result; the log-probability of the last action
   index: (B, beam); the result; hypothesis × actions + action */
const char *best_continuations(int half, int64_t count, int64_t sentences, int64_t width, int64_t actions,
                               const char *scores, const int64_t *rows, const float *legal, const float *totals,
                               int64_t beam, float *best, float *added, int64_t *index) {
    const int64_t hypotheses = sentences * width;
    int64_t *scores_row = malloc(hypotheses * sizeof *scores_row + actions * sizeof(float));
    if (!scores_row) return NO_MEMORY;
    const char *problem = NULL;
    for (int64_t i = 0; i < hypotheses; i++) scores_row[i] = -1;
    for (int64_t i = 0; i < count && !problem; i++) {
        const int64_t row = rows ? rows[i] : i;
        if (OUTSIDE(row, hypotheses))
            problem = "rows: beyond the hypotheses that there are";
        else
            scores_row[row] = i;
    }
    const Continuations continuations = {half,       sentences, width,  actions, beam,  scores,
                                         scores_row, legal,     totals, best,    added, index};
    if (!problem) problem = VARIANT(best_continuations)(&continuations, (float *)(scores_row + hypotheses));
    free(scores_row);
    return problem;
}

/* Compute the states of gated passes after one more word: (1 − a) found + a tanh(n + r n'). Return NULL, or a message
   about wrong arguments.

   a and r are the sigmoids of the sums of the first thirds and of the second thirds of `words` and `recurrent`. n and
   n' are the last thirds of `words` and of `recurrent`.

   found_stride, words_stride: the distances between the passes of `found` and of `words`, in numbers
   found: (passes, rows, width); the states before the word
   recurrent: (passes, rows, 3 width); the products of the states with the recurrent weights
   words: (passes, read, 3 width); the products of the words with their weights; row i reads word i modulo `read`
   output: (passes, rows, width); the result */
const char *gated_step(int half, int threads, int64_t passes, int64_t rows, int64_t read, int64_t width,
                       int64_t found_stride, int64_t words_stride, const char *found, const char *recurrent,
                       const char *words, char *output) {
    const Gates gates = {half, rows, read, width, found_stride, words_stride, found, recurrent, words, output};
    return in_shares(VARIANT(gated_step), &gates, threads, passes * rows * width * AS_LONG_AS, passes * rows, 0, 1,
                     width);
}

/* Compute the maximum of each convolution filter over the letters of each word, at least 0. Return NULL, or a message
   about wrong arguments.

   Window i has sizes[i] letters, and sizes[i] / 2 of them precede the current letter. Words are padded with zeros. Rows
   of `tables` are added up, so that nothing is multiplied.

   most: the number of letters of the longest word, at most MOST_LETTERS
   filters: the number of filters of each window, a multiple of 64
   letters: (words, most); 0 behind the last letter of a word
   tables: (sizes[i], symbols, filters) for each window i; the products of letters with the weights
   biases: (windows, filters)
   output: (words, windows, filters); the result */
const char *letter_maxima(int threads, int64_t words, int64_t most, int64_t symbols, int64_t windows, int64_t filters,
                          const int64_t *sizes, const int64_t *letters, const float *tables, const float *biases,
                          float *output) {
    const Letters in = {most, symbols, windows, filters, sizes, letters, tables, biases, output};
    return in_shares(VARIANT(letter_maxima), &in, threads, words * windows * filters * AS_LONG_AS, words, 0, 1, 0);
}

/* Find derivations of dependency trees by beam search. The decoder adds up the vectors of the words at some places of
   the state and has one hidden layer: scores = weight max(0, sum + bias) + token_bias. Hypotheses are chosen and
   ordered as by `best_continuations`. Return NULL, or a message about wrong arguments.

   half: 1 for `weight` in bfloat16; hidden layer and scores are then rounded to bfloat16
   positions: the number of words of the longest sentence and its root
   width: a multiple of 32
   swaps_per_word: how many SWAPs a sentence may take for each word
   most: the largest number of actions of a derivation
   words: (sentences, positions, places, width); the vector of each word at each place
   ranks: (places); k for the k-th word from the top of the stack, -k for the k-th word from the front of the buffer
   lengths: (sentences); the number of words
   column: (tokens); the column of each token
   effects: (columns); the effect of each column
   legal: (256, columns); the legal columns of each situation
   counts: (sentences); the result; how many derivations were found, at most 2 beam
   steps: (sentences, 2 beam); the result; the number of actions of each derivation
   actions, added: (sentences, 2 beam, most); the results; the actions and their log-probabilities */
const char *search_trees(int half, int threads, int64_t sentences, int64_t positions, int64_t places, int64_t width,
                         int64_t tokens, int64_t columns, int64_t beam, int64_t swaps_per_word, int64_t most,
                         const float *words, const float *bias, const char *weight, const float *token_bias,
                         const int64_t *ranks, const int64_t *lengths, const int64_t *column, const Effect *effects,
                         const uint8_t *legal, int64_t *counts, int64_t *steps, int32_t *actions, float *added) {
    for (int64_t i = 0; i < tokens; i++)
        if (OUTSIDE(column[i], columns)) return "column: beyond the columns that there are";
    for (int64_t i = 0; i < places; i++)
        if (!ranks[i]) return "ranks: no word has the rank 0";
    const Trees in = {half,           sentences, positions, places, width,      tokens, columns, beam,
                      swaps_per_word, most,      words,     bias,   token_bias, weight, ranks,   lengths,
                      column,         effects,   legal,     counts, steps,      actions, added};
    return in_shares(VARIANT(search_trees), &in, threads, sentences * positions * tokens * width, sentences, tokens, 1,
                     width);
}
