/* The parts of a step of search; see search_kernels.c. */

/* Totals and scores below DEAD mark dead hypotheses and illegal actions. −infinity is excluded by -ffinite-math-only,
   see setup.py. */
#define DEAD -1e30f

/* The layers of a decoder. The fields that are not listed are arguments of `cross_attention`.

   inner: the width of feed-forward
   weights: (layers, 20); of self-attention: keys and values, query, output, each the weight and then the bias; the norm
       before cross-attention; of cross-attention: query, output; the norm before feed-forward; its two layers; the norm
       after the layer. Where weights are codes, the weight of each linear layer is a `Coded`, and its bias is NULL.
   epsilons: (layers, 3); of the three norms
   positions: (layers); the state positions of each layer */
typedef struct {
    int64_t half, heads, d, inner, layers, kinds, largest;
    const char *const *weights;
    const float *epsilons;
    const int32_t *roles;
    const char *const *positions;
} Decoder;

/* Rows of a step whose keys and values are stored together, for `decoder_layers`. The fields that are not listed are
   arguments of `cached_self_attention` and `cross_attention`.

   rows: the number of rows
   caches, cache_sizes, cache_rows, cache_row_sizes, memories: (layers); of each layer; the newest entry of each cache
       is written */
typedef struct {
    int64_t rows, steps;
    const char *const *const *caches;
    const int64_t *const *cache_sizes;
    const int32_t *const *origin;
    const int64_t *origin_sizes;
    const int32_t *const *const *cache_rows;
    const int64_t *const *cache_row_sizes;
    int64_t sentences, width, known, stride;
    const char *const *memories;
    const int32_t *sentence, *lengths;
    const int64_t *const *ranks;
} Group;

const char *decoder_layers(const Decoder *decoder, int64_t groups, const Group *group, char *x, char *normed);
void add_and_normalise(int half, int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
                       const char *bias, float epsilon, char *normal);
const char *legal_scores(int half, int64_t count, int64_t dim, int64_t hypotheses, int64_t actions, int64_t vocabulary,
                         const char *x, const char *weight, const int64_t *tokens, const int64_t *rows,
                         const float *legal, int64_t lexicon_rows, int64_t entries, const int64_t *spans,
                         const int64_t *offsets, const int64_t *prior_tokens, const char *values, char *scores);
const char *best_continuations(int half, int64_t count, int64_t sentences, int64_t width, int64_t actions,
                               const char *scores, const int64_t *rows, const float *legal, const float *totals,
                               int64_t beam, float *best, float *added, int64_t *index);
