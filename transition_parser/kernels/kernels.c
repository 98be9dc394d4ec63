/* The kernels that several kinds of processors need in several variants: whole searches, attention in encoders, recurrent
   layers, the letters of words, and layers whose weights are 8-bit integers.

   Numbers are float, or bfloat16 where `half` is 1. Sums are computed in float. H heads have d numbers each, where d is a
   multiple of 32, and dim = H d.

   Functions return NULL, or a message about wrong arguments. Python checks types and sizes. The functions here check the
   numbers. */

#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

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
#define AS_MANY_INT8 16 /* the number of products of integers that take about as long as one number of a key */
#define AS_LONG_AS 8     /* the numbers of keys that take about as long as one filter of a word */
#define WORDS_TOGETHER 256 /* the words of sentences that go through a recurrent layer together */
#define ROWS_OF_STEP 48    /* the number of states whose gates are computed together, and stay in the cache of a core */
/* A task whose keys have fewer numbers in all runs in one thread, because starting a second thread takes about as long
   as the task. */
#define WORTH_A_THREAD (1 << 19)

static const char *const NO_MEMORY = "no memory for search";
static const char *const NOT_FINITE = "products with weights are not finite";

/* Totals and scores below DEAD mark missing hypotheses and actions. −infinity is excluded by -ffinite-math-only, see
   setup.py. */
#define DEAD -1e30f

/* A continuation of hypothesis `row` by an action. */
typedef struct {
    float total, added;
    int64_t row, token;
} Continued;

/* The results of a search: the number of derivations of each sentence, and for each derivation its number of actions, its
   actions and their log-probabilities, `most` of them at most. */
typedef struct {
    int64_t most, *counts, *steps;
    int32_t *actions;
    float *added;
} Found;

/* An action of a derivation, and the actions before it. */
typedef struct Step {
    const struct Step *before;
    int32_t token;
    float added;
} Step;

/* Write a derivation of `steps` actions to the results, at a place among all derivations. */
static void write_derivation(const Found *found, int64_t place, int64_t steps, const Step *last) {
    found->steps[place] = steps;
    for (int64_t i = steps - 1; i >= 0; i--, last = last->before) {
        found->actions[place * found->most + i] = last->token;
        found->added[place * found->most + i] = last->added;
    }
}

#define MOST_LETTERS 64 /* the largest number of letters of a word */

typedef struct {
    int64_t most, symbols, windows, filters;
    const int64_t *sizes, *letters;
    const float *tables, *biases;
    float *output;
} Letters;

/* Strides are in numbers. */
typedef struct {
    int half;
    int64_t rows, longest, heads, d, query_stride, key_stride, value_stride;
    const int32_t *first, *lengths;
    const char *query, *keys, *values;
    char *output;
} Sentences;

/* The weights of a linear layer as floats (or bfloat16), whose `start` and `scale` are NULL, or as integers.

   weight: floats: (outputs / 2 LANES, inputs, 2 LANES); integers: (outputs / PANEL, inputs / 4, PANEL, 4), rounded up
   start: (outputs), rounded up to a multiple of PANEL; the start of each sum, because the integer of zero is 128
   scale: (outputs), rounded up likewise
   bias: (outputs), rounded up likewise; of the type of floats
   inputs: a multiple of 4 */
typedef struct {
    const void *weight;
    const int32_t *start;
    const float *scale;
    const void *bias;
    int64_t inputs, outputs;
} Weights;
enum { LINEAR, RELU, GELU };
#define PANEL 64   /* the number of columns of a product whose integers lie together */

/* A function that computes sums of some rows with a panel of weights, see panel_sums.h. */
typedef void PanelSums(const uint8_t *integers, int64_t inputs, const int8_t *weight, const int32_t *start, int32_t *found);

/* The arguments of `int8_linear`. `width` is the number of inputs, at most `by.inputs`. */
typedef struct {
    int half, activation;
    int64_t width;
    Weights by;
    const char *x;
    char *output;
} Int8Linear;

/* See `int8_layers`. asking_before: (sentences + 1); the number of `asking` rows before each sentence */
typedef struct {
    int64_t dim, heads, inner, layers, sentences, longest;
    const Weights *products;
    const char *const *norms;
    const float *epsilons, *x;
    const int32_t *first, *lengths;
    const int64_t *asking, *asking_before;
    float *output;
} Int8Layers;
enum { INT8_PRODUCTS = 4, INT8_NORMS = 4 };

/* See `recurrent_layer`. */
typedef struct {
    int kind;
    int64_t width, longest;
    const Weights *by;
    const int32_t *first, *lengths;
    const float *x;
    float *output;
} Recurrent;
enum { LSTM, TO_TARGET, TO_BOUNDARY };

/* A pass over words of a sentence: the word `first`, then `second` and each `by`-th word after it, `steps` words in all.
   Words are numbered in the sentences that are computed together; `before` is added for their number among all rows. */
typedef struct {
    int64_t first, second, by, steps, before;
} Pass;

/* most: the largest number of words and of passes
   words: (most, gates, width); the products of words with their weights
   states: (2, most, width); the states of passes, and the cells of LSTMs
   recurrent: (ROWS_OF_STEP, gates, width) */
typedef struct {
    int64_t most;
    float *words, *states, *recurrent;
} RecurrentRoom;

static int longest_first(const void *one, const void *other) {
    const int64_t a = ((const Pass *)one)->steps, b = ((const Pass *)other)->steps;
    return (a < b) - (a > b);
}

/* List the passes of one direction over the sentences from `from` to before `to`, the longest first. Return their number. */
static int64_t passes_of(const Recurrent *in, int direction, int64_t from, int64_t to, Pass *passes) {
    int64_t count = 0, row = 0;
    for (int64_t i = from; i < to; row += in->lengths[i++]) {
        const int64_t length = in->lengths[i], last = row + length - 1, before = in->first[i] - row;
        if (in->kind == LSTM && length)
            passes[count++] = direction ? (Pass){last, last - 1, -1, length, before} : (Pass){row, row + 1, 1, length, before};
        for (int64_t at = row; at <= last && in->kind != LSTM; at++) {
            const int64_t steps = direction ? last - at + 1 : at - row + 1, towards = direction ? -1 : 1;
            const Pass from_target = {at, at - towards, -towards, steps, before};
            passes[count++] =
                in->kind == TO_BOUNDARY ? from_target : (Pass){at, direction ? last : row, towards, steps, before};
        }
    }
    qsort(passes, count, sizeof *passes, longest_first);
    return count;
}

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

#include "amr_machine.h"
#include "amr_search.h"
#include "tree_beam.h"

const unsigned checksum = CHECKSUM; /* of the sources, see loader.py */
int most_lanes = 0; /* the largest number of lanes of vectors, set from Python; 0 for no limit but the processor's */
int use_vnni = 1;   /* 0 to multiply integers without the instructions for it, also where the processor has them */

/* The processor features of each variant, listed once: the variant is compiled for these features, and it is used if
   the processor has them. */
#define AVX512(F, AND)                                                                                          \
    F("avx512f") AND F("avx512bw") AND F("avx512dq") AND F("avx512vl") AND F("avx2") AND F("fma") AND F("bmi") \
        AND F("bmi2")
#define AVX2(F, AND) F("avx2") AND F("fma") AND F("bmi") AND F("bmi2")
#define ITSELF(feature) feature
#define COMMA ,

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h> /* before any COMPILE_FOR: else its functions would be for that processor alone */
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
COMPILE_FOR(AVX2(ITSELF, COMMA), "avxvnni")
#define LANES 8
#define WITH_DPBUSD 1
#define NAME(x) x##_avxvnni
#include "panel_sums.h"
#undef NAME
#undef WITH_DPBUSD
#undef LANES
#pragma GCC pop_options
#pragma GCC push_options
COMPILE_FOR(AVX2(ITSELF, COMMA))
#define LANES 8
#define NAME(x) x##_avx2
#include "variant.h"
#define WITH_DPBUSD 0
#include "panel_sums.h"
#define SUMS_OF_PANELS (use_vnni && __builtin_cpu_supports("avxvnni") ? panels_avxvnni : panels_avx2)
#include "int8.h"
#undef WITH_DPBUSD
#undef NAME
#undef LANES
#pragma GCC pop_options
#pragma GCC push_options
COMPILE_FOR(AVX512(ITSELF, COMMA), "avx512vnni")
#define LANES 16
#define NAME(x) x##_avx512
#include "panel_sums.h"
#define SUMS_OF_PANELS panels_avx512
#include "int8.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#define USABLE(lanes, FEATURES) \
    ((most_lanes == 0 || most_lanes >= (lanes)) && FEATURES(__builtin_cpu_supports, &&))
#define HAS_VNNI (use_vnni && USABLE(16, AVX512) && __builtin_cpu_supports("avx512vnni"))
#define HAS_INT8 (HAS_VNNI || USABLE(8, AVX2))
#define INT8(function) (HAS_VNNI ? function##_avx512 : function##_avx2)
#define VARIANT(function) \
    (USABLE(16, AVX512) ? function##_avx512 : USABLE(8, AVX2) ? function##_avx2 : function##_any)
#else
#define HAS_INT8 0
#define INT8(function) NULL
#define VARIANT(function) function##_any
#endif
#define LANES 4
#define NAME(x) x##_any
#include "variant.h"

/* For tests: the number of lanes in use, and the processor features that 16 and 8 lanes need. */
int lanes(void) { return VARIANT(lanes)(); }
const char *const features_of_16 = AVX512(ITSELF, " "), *const features_of_8 = AVX2(ITSELF, " ");

#define THREADS 16 /* the largest number of threads */

/* Do pieces of work: the last one in this thread, and each other piece in a thread of its own. This thread also does
   the pieces whose threads cannot be started. Return when all pieces are done.

   worked: does one piece, of which it gets the address
   works: (count); the pieces, at most THREADS
   size: the size of a piece in bytes */
static void in_threads(void *(*worked)(void *), void *works, size_t size, int count) {
    pthread_t threads[THREADS];
    int started[THREADS];
    for (int i = 0; i + 1 < count; i++)
        started[i] = !pthread_create(threads + i, NULL, worked, (char *)works + i * size);
    for (int i = count - 1; i >= 0; i--) {
        if (i + 1 < count && started[i])
            pthread_join(threads[i], NULL);
        else
            worked((char *)works + i * size);
    }
}

typedef const char *Task(const void *job, const Share *share);

/* One thread's share of a task. */
typedef struct {
    Task *task;
    const void *job;
    Share share;
    const char *problem;
} Work;

static void *worked(void *argument) {
    Work *work = argument;
    work->problem = work->task(work->job, &work->share);
    return NULL;
}

/* Distribute a task over threads: by queries where there are many queries, else by heads. Return NULL, or a message
   about wrong arguments. The results do not depend on the distribution.

   numbers: how many numbers all keys of the task have */
static const char *in_shares(Task *task, const void *job, int threads, int64_t numbers, int64_t queries, int64_t heads) {
    Work works[THREADS];
    const int by_query = queries >= 2 * BLOCK * threads;
    int count = threads < THREADS ? threads : THREADS;
    if (!by_query && count > heads) count = (int)heads;
    if (count < 1 || numbers < WORTH_A_THREAD) count = 1;
    for (int i = 0; i < count; i++) {
        const Share some = {queries * i / count, queries * (i + 1) / count, 0, 1}, every = {0, queries, i, count};
        works[i] = (Work){task, job, by_query ? some : every, NULL};
    }
    in_threads(worked, works, sizeof *works, count);
    for (int i = 0; i < count; i++)
        if (works[i].problem) return works[i].problem;
    return NULL;
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
    return in_shares(VARIANT(self_attention), &in, threads, rows * longest * heads * d, sentences, heads);
}

/* Return 1 if layers with integers as weights can be computed on this processor, else 0. */
int has_int8(void) { return HAS_INT8; }

/* Compute a linear layer whose weights are integers: activation(x W^T + b). Return NULL, or a message about wrong
   arguments.

   width: the number of inputs
   activation: LINEAR, RELU or GELU
   x: (rows, width)
   output: (rows, by->outputs); the result */
const char *int8_linear(int half, int threads, int activation, int64_t rows, int64_t width, const Weights *by,
                         const char *x, char *output) {
    if (!HAS_INT8) return "int8_linear: not for this processor";
    const Int8Linear in = {half, activation, width, *by, x, output};
    const int64_t panels = (by->outputs + PANEL - 1) / PANEL;
    return in_shares(INT8(int8_linear), &in, threads, rows * width * by->outputs / AS_MANY_INT8, rows, panels);
}

/* Compute layers of BERT (post-norm, GELU) over sentences, with products of 8-bit integers. Return NULL, or a message
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
const char *int8_layers(int threads, int64_t rows, int64_t sentences, int64_t longest, int64_t asked, int64_t dim,
                         int64_t heads, int64_t inner, int64_t layers, const Weights *products, const char *const *norms,
                         const float *epsilons, const int32_t *first, const int32_t *lengths, const int64_t *asking,
                         const float *x, float *output) {
    if (!HAS_INT8) return "int8_layers: not for this processor";
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
    const Int8Layers in = {dim,      heads, inner, layers,  sentences, longest,       products, norms,
                            epsilons, x,     first, lengths, asking,    asking_before, output};
    const int64_t work = rows * dim * inner * layers / AS_MANY_INT8;
    if (!problem) problem = in_shares(INT8(int8_layers), &in, threads, work, rows, 1);
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

/* Compute a recurrent layer that reads sentences in both directions. Return NULL, or a message about wrong arguments.

   An LSTM makes one pass over the sentence in each direction, and its states are the result. Rescans make a pass for each
   word, the target, and the words on one side of it, which begins with the target; its last state is the result. The
   results of a sentence depend neither on other sentences nor on the threads.

   kind: LSTM; or rescans, whose passes go on to the target's neighbor (TO_TARGET) or from there (TO_BOUNDARY)
   rows: the number of rows of x
   longest: the largest number of words that a sentence may have
   width: the width of states, a multiple of 32
   first, lengths: (sentences); the first row of each sentence, and the number of its words
   by: (2, 2); the weights of words and of states, in the direction of the words and in the other
   x: (rows, by->inputs)
   output: (rows, 2, width); the result; rows outside all sentences stay unchanged */
const char *recurrent_layer(int threads, int kind, int64_t rows, int64_t sentences, int64_t longest, int64_t width,
                            const int32_t *first, const int32_t *lengths, const Weights *by, const float *x,
                            float *output) {
    const Recurrent in = {kind, width, longest, by, first, lengths, x, output};
    for (int64_t i = 0; i < sentences; i++)
        if (OUTSIDE(lengths[i], longest + 1) || OUTSIDE(first[i], rows - lengths[i] + 1))
            return "first or lengths: beyond the rows that there are";
    if (by->start && !HAS_INT8) return "weights: integers, which are not for this processor";
    const int64_t work = rows * by->outputs * (by->inputs + (kind == LSTM ? width : longest * width)) / AS_MANY_INT8;
    return in_shares(by->start ? INT8(int8_recurrent_layer) : VARIANT(recurrent_layer), &in, threads, work, sentences, 2);
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
    return in_shares(VARIANT(letter_maxima), &in, threads, words * windows * filters * AS_LONG_AS, words, 1);
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
    const Trees in = {half,  sentences, positions, places, width,   tokens, columns, beam,  swaps_per_word,
                      words, bias,      token_bias, weight, ranks,   lengths, column, effects, legal,
                      {most, counts, steps, actions, added}};
    return in_shares(VARIANT(search_trees), &in, threads, sentences * positions * tokens * width, sentences, 1);
}

/* The searches of one thread side by side, so that the products of a step have many rows. A sentence that is done makes
   room for the next one.

   most, count: the largest number of searches, and their number
   x, normed: (rows, dim); the input of the decoder, and its norm, which becomes the output
   zeros: (rows, dim); zeros
   memory: (rows, 4 dim + inner) */
typedef struct {
    int64_t most, count;
    AmrSearch *searches;
    char *x, *normed, *zeros, *memory;
    Room room;
    ScoreRoom scores;
} Together;

/* Take one step in each search. Return NULL, or a message about wrong arguments. */
static const char *take_step(const Network *network, const Together *together, int64_t most) {
    const int64_t dim = network->heads * network->d, bytes = dim * (network->half ? 2 : 4);
    const int int8 = network->layers && network->products[0]->start;
    int64_t rows = 0;
    for (int64_t i = 0; i < together->count; i++) {
        AmrSearch *search = together->searches + i;
        if (search->step == most) return "most: a derivation has more actions";
        const char *problem = prepare(search, together->x + rows * bytes);
        if (problem) return problem;
        rows += search->rows;
    }
    VARIANT(add_and_normalize)(rows, dim, together->x, together->zeros, network->norm, network->norm_bias,
                               network->norm_epsilon, together->normed, (int)network->half);
    const char *problem = (int8 ? INT8(int8_layers_of) : VARIANT(layers_of))(
        together->searches, together->count, rows, together->x, together->normed, together->memory, &together->room);
    const char *normed = together->normed;
    for (int64_t i = 0; i < together->count && !problem; i++) {
        AmrSearch *search = together->searches + i;
        const int64_t of_search = search->rows * bytes;
        problem = VARIANT(continuations)(search, normed, &together->scores);
        if (!problem) problem = follow(search);
        normed += of_search;
    }
    return problem;
}

/* The sentences of a thread: from `next` to before `end`. */
typedef struct {
    const Network *network;
    const AmrTable *table;
    const Found *found;
    const AmrRow *rows;
    int64_t beam, next, end;
    const char *problem;
} AmrWork;

/* Search all sentences. Return NULL, or a message about wrong arguments. */
static const char *search_side_by_side(const AmrWork *work, Together *together) {
    int64_t next = work->next;
    while (next < work->end || together->count) {
        const char *problem = NULL;
        for (; together->count < together->most && next < work->end && !problem; next++)
            problem = begin(together->searches + together->count++, work->network, work->table, work->found,
                            work->rows + next, next, work->beam);
        if (!problem) problem = take_step(work->network, together, work->found->most);
        if (problem) return problem;
        for (int64_t i = together->count - 1; i >= 0; i--) {
            AmrSearch *search = together->searches + i;
            if (search->rows) continue;
            work->found->counts[search->sentence] = search->finished;
            release(search);
            *search = together->searches[--together->count];
        }
    }
    return NULL;
}

static void *search_sentences(void *argument) {
    AmrWork *work = argument;
    const Network *by = work->network;
    const int64_t rows = work->beam > ROWS_AT_ONCE ? work->beam : ROWS_AT_ONCE, size = by->half ? 2 : 4;
    const int64_t dim = by->heads * by->d, vocabulary = work->table->vocabulary;
    const int64_t most = work->found->most > by->words ? work->found->most : by->words, pointers = most + AHEAD;
    const int64_t floats = 2 * BLOCK * by->heads * (most + 3 + by->d);
    Together together = {.most = rows / work->beam};
    together.searches = calloc(together.most, sizeof *together.searches);
    together.x = calloc(rows, (7 * dim + by->inner) * size);
    const int64_t products = SHARING * (vocabulary + AHEAD);
    const char **every = malloc((3 * pointers + vocabulary + MOST_ARCS + AHEAD) * sizeof *every);
    int64_t *tokens = calloc(2 * vocabulary, sizeof *tokens);
    float *scores = malloc((floats + products + MOST_ARCS + AHEAD) * sizeof *scores);
    work->problem = NO_MEMORY;
    if (together.searches && together.x && every && tokens && scores) {
        together.normed = together.x + rows * dim * size;
        together.zeros = together.normed + rows * dim * size;
        together.memory = together.zeros + rows * dim * size;
        together.room = (Room){every, every + pointers, every + 2 * pointers, scores + BLOCK * by->heads * by->d, scores};
        together.scores = (ScoreRoom){every + 3 * pointers, tokens, tokens + vocabulary, scores + floats,
                                      scores + floats + products};
        work->problem = search_side_by_side(work, &together);
        for (int64_t i = 0; i < together.count; i++) release(together.searches + i);
    }
    free(together.searches);
    free(together.x);
    free(every);
    free(tokens);
    free(scores);
    return NULL;
}

/* Find derivations of the AMR of each sentence by beam search with the Stack-Transformer, until `beam` of them are
   complete. The result of a sentence depends neither on other sentences nor on the threads. Return NULL, or a message
   about wrong arguments.

   sentences: their number B
   beam: the number of hypotheses that are kept; 1 is greedy search
   most: the largest number of actions of a derivation
   rows: (B); the rows before the first action, see `Rows.initial` in amr_machine.py
   counts, steps, actions, added: the results, see `search_trees` */
const char *search_amrs(const Network *network, AmrTable *table, int threads, int64_t sentences, int64_t beam,
                        int64_t most, const AmrRow *rows, int64_t *counts, int64_t *steps, int32_t *actions,
                        float *added) {
    const Found found = {most, counts, steps, actions, added};
    const char *problem = prepare_table(table);
    if (OUTSIDE(network->end, table->vocabulary)) problem = "end: beyond the vocabulary";
    for (int64_t head = 0; head < network->heads; head++)
        if (network->roles[head] < -1 || network->roles[head] >= KINDS) problem = "roles: beyond the kinds of words";
    for (int64_t arc = 0; arc < network->arcs; arc++)
        if (OUTSIDE(network->arc_tokens[arc], table->vocabulary) || OUTSIDE(network->places[arc], 2))
            problem = "arcs: beyond the vocabulary, or of a third node";
    for (int64_t i = 0; i < network->arcs * network->frames; i++)
        if (OUTSIDE(network->rows[i], network->functions + 1)) problem = "rows: beyond the functions";
    if (network->layers && network->products[0]->start && !HAS_INT8)
        problem = "weights: integers, which are not for this processor";
    AmrWork works[THREADS];
    int shares = threads < THREADS ? threads : THREADS;
    if (shares > sentences) shares = (int)sentences;
    if (shares < 1) shares = 1;
    for (int i = 0; i < shares; i++)
        works[i] = (AmrWork){network, table, &found, rows, beam, sentences * i / shares, sentences * (i + 1) / shares, NULL};
    if (!problem) in_threads(search_sentences, works, sizeof *works, shares);
    for (int i = 0; i < shares && !problem; i++) problem = works[i].problem;
    return problem;
}
