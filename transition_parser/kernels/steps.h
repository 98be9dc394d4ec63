/* The parts of a step of search; see search_kernels.c. */

/* Totals and scores below DEAD mark dead hypotheses and illegal actions. −infinity is excluded by -ffinite-math-only,
   see setup.py. */
#define DEAD -1e30f

const char *decoder_layers(int half, int64_t queries, int64_t heads, int64_t d, int64_t inner, int64_t layers,
                           const char *const *weights, const float *epsilons, int64_t steps,
                           const char *const *const *caches, const int64_t *const *cache_sizes,
                           const int32_t *const *origin, const int64_t *origin_sizes,
                           const int32_t *const *const *cache_rows, const int64_t *const *cache_row_sizes,
                           int64_t sentences, int64_t width, int64_t known, int64_t kinds, int64_t stride,
                           int64_t largest, const char *const *memories, const int32_t *sentence,
                           const int32_t *lengths, const int32_t *roles, const int64_t *const *ranks,
                           const char *const *positions, char *x, char *normed);
void add_and_normalise(int half, int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
                       const char *bias, float epsilon, char *normal);
const char *legal_scores(int half, int64_t count, int64_t dim, int64_t hypotheses, int64_t actions, int64_t vocabulary,
                         const char *x, const char *weight, const int64_t *tokens, const int64_t *rows,
                         const float *legal, int64_t lexicon_rows, int64_t entries, const int64_t *spans,
                         const int64_t *offsets, const int64_t *prior_tokens, const char *values, char *scores);
const char *best_continuations(int half, int64_t count, int64_t sentences, int64_t width, int64_t actions,
                               const char *scores, const int64_t *rows, const float *legal, const float *totals,
                               int64_t beam, float *best, float *added, int64_t *index);
