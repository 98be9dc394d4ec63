/* Attention in search, on CPUs. Each hypothesis (of the encoder, each word) reads the keys and values that it may see
   where they are stored: no mask is made, and nothing is copied or computed for what it may not see.

   Numbers are float, or bfloat16 where `half` is 1; sums are in float. R rows (hypotheses), H heads of d numbers each,
   a multiple of 32; dim = H d. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__) /* lanes of x, and behind them those of y */
#else
#error "a compiler with __builtin_shufflevector is needed: gcc 12 or newer, or clang"
#endif

/* Calls the function so that the usual d is known when it is compiled. */
#define SPECIALISE(function, ...)         \
    if (half && d == 64)              \
        function(__VA_ARGS__, 64, 1); \
    else if (half)                    \
        function(__VA_ARGS__, d, 1);  \
    else if (d == 64)                 \
        function(__VA_ARGS__, 64, 0); \
    else                              \
        function(__VA_ARGS__, d, 0);

int most_lanes = 0; /* of vectors, for tests; 0: as many as the processor has */
#define usable(lanes) (most_lanes == 0 || most_lanes >= (lanes))

typedef struct {
    int64_t queries, heads, steps;
    const char *query;
    const char *const *cache;
    const int32_t *const *origin, *const *cache_row;
    const int32_t *rows;
    char *output;
} Past;

typedef struct {
    int64_t queries, heads, width, stride, window, largest;
    const char *query, *memory, *positions;
    const int32_t *rows, *sentence, *lengths, *roles;
    const int64_t *const *ranks;
    char *output;
} Words;

#define DEAD -1e30f /* scores below are of what is not there */

typedef struct {
    int64_t sentences, width, actions, beam;
    const char *scores;
    const int64_t *scores_row;
    const float *legal, *totals;
    float *best, *added;
    int64_t *index;
} Continuations;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("arch=skylake-avx512")
#define LANES 16
#define NAME(x) x##_avx512
#include "search_kernels.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=haswell")
#define LANES 8
#define NAME(x) x##_avx2
#include "search_kernels.h"
#undef NAME
#undef LANES
#pragma GCC pop_options
#define DISPATCH(function, ...)                                                                 \
    if (usable(16) && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) \
        function##_avx512(__VA_ARGS__);                                                         \
    else if (usable(8) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))     \
        function##_avx2(__VA_ARGS__);                                                           \
    else                                                                                        \
        function##_any(__VA_ARGS__);
#else
#define DISPATCH(function, ...) function##_any(__VA_ARGS__);
#endif
#define LANES 4
#define NAME(x) x##_any
#include "search_kernels.h"

/* Self-attention over the actions that each hypothesis descends from.

   rows: (N), which row each query is of, or NULL: the first N. query, output: (N, dim). cache[s]: (R_s, 2 dim), keys
   and values of the actions of step s; the last step is this one. origin[s]: (R_s), which row of step s - 1 each row of
   step s continues; NULL where its own, and at first. cache_row: NULL, or for each step (R_s), which row of cache[s] a
   row has. Returns 0, or -1 where there is no memory. */
int cached_self_attention(int half, int64_t queries, int64_t heads, int64_t d, const int32_t *rows, const char *query,
                          int64_t steps, const char *const *cache, const int32_t *const *origin,
                          const int32_t *const *cache_row, char *output) {
    const Past past = {queries, heads, steps, query, cache, origin, cache_row, rows, output};
    const char **keys = malloc(sizeof *keys * steps + sizeof(float) * (steps + 3));
    if (!keys) return -1;
    DISPATCH(cached_self_attention, &past, keys, (float *)(keys + steps), d, half)
    free(keys);
    return 0;
}

/* Cross-attention whose heads see all words, or those on the stack, or those in the buffer; a head that sees nothing
   gives 0.

   rows: (N), which row each query is of, or NULL: the first N. query, output: (N, dim). memory: (B, width, 2 dim), keys
   and values of the words. sentence: (R), which of B a row is of. lengths: (B), words. roles: (H), which of `ranks`
   says what a head sees, or -1: all words. ranks[role]: (R, width), each row `stride` after the last, k for the k-th
   word from the top, 0 for a word that is not to be seen. window: the largest k that is seen, 0 for any. positions:
   NULL, or (roles, largest + 1, dim), what is added to the keys of the k-th word. Returns 0, or -1 where there is no
   memory. */
int cross_attention(int half, int64_t queries, int64_t heads, int64_t d, const int32_t *rows, const char *query,
                    int64_t width, const char *memory, const int32_t *sentence, const int32_t *lengths,
                    const int32_t *roles, const int64_t *const *ranks, int64_t stride, int64_t window,
                    const char *positions, int64_t largest, char *output) {
    const Words words = {queries, heads,    width,   stride, window, largest, query, memory, positions,
                         rows,    sentence, lengths, roles,  ranks,  output};
    const char **keys = malloc(2 * (sizeof *keys * width + sizeof(float) * (width + 3)));
    if (!keys) return -1;
    DISPATCH(cross_attention, &words, keys, (float *)(keys + 2 * width), d, half)
    free(keys);
    return 0;
}

/* x += added; normal = layer norm of x. x, added, normal: (R, dim); weight, bias: (dim), of the norm. */
void add_and_normalise(int half, int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
                       const char *bias, float epsilon, char *normal) {
    DISPATCH(add_and_normalise, rows, dim, x, added, weight, bias, epsilon, normal, half)
}

/* The best continuations of each sentence's hypotheses, by their total, best first, of equals the first.

   scores: (N, actions), before the softmax. scores_row: (B × width), which row of scores a hypothesis has, or -1: where
   a single action is legal, which is certain then. legal: (B × width, actions), 1 or 0. totals: (B × width), what the
   hypotheses have so far; −infinity for those that are dead. best, added: (B, beam), totals and what the action
   added to them; best is below -1e30 where there are no more. index: (B, beam), hypothesis × actions + action. Returns
   0, or -1 where there is no memory. */
int best_continuations(int half, int64_t sentences, int64_t width, int64_t actions, const char *scores,
                       const int64_t *scores_row, const float *legal, const float *totals, int64_t beam, float *best,
                       float *added, int64_t *index) {
    const Continuations continuations = {sentences, width, actions, beam,  scores, scores_row,
                                         legal,     totals, best,   added, index};
    float *logits = malloc(sizeof(float) * actions);
    if (!logits) return -1;
    DISPATCH(best_continuations, &continuations, logits, half)
    free(logits);
    return 0;
}
