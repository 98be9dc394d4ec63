/* The data of a search for AMRs; see `search_amrs` in kernels.c. */

enum { KINDS = 2 };           /* the groups of words that a head may be limited to: the stack, the buffer */
enum { ROWS_AT_ONCE = 48 };   /* the largest number of rows computed together, but one sentence may have more */
enum { LAYER_PRODUCTS = 7, LAYER_NORMS = 3 };
enum { MOST_ARCS = 64 };      /* the largest number of arcs whose scores depend on frames */

/* The decoder.

   layers: the number of layers
   largest: the largest rank with a vector of its own in `positions`
   words: the number of words of a sentence in the memories
   windows: how many words of the stack (from its top) and of the buffer heads see; 0 for all
   end: the token before the first action
   prior_rows, entries: the sizes of the lexical prior; 0 for no prior
   scale: the factor of the input embeddings
   products: (layers, 7); of self-attention: keys and values, query, output; of cross-attention: query, output; the two
       of feed-forward
   norms: (layers, 3, 2); weight and bias of the norms before cross-attention, before feed-forward, and after the layer
   epsilons: (layers, 3)
   roles: (heads); 0 for heads that see the stack, 1 for the buffer, -1 for all words
   positions: (layers), each (2, largest + 1, dim) or NULL; the vector that is added to the keys of words of each rank;
       ranks above `largest` share the last vector
   embedded, output: (vocabulary, dim); the input and the output embeddings of actions
   sinusoids: (most, dim); the position vector of each step
   norm, norm_bias, norm_epsilon: the norm before the first layer
   memories: (layers), each (sentences, words, 2 dim); the keys and values of words
   lengths: (sentences); the number of words of each sentence
   offsets, prior_tokens, values: the lexical prior: row r of the lexicon adds values[i] to the score of prior_tokens[i]
       for i from offsets[r] to before offsets[r + 1]
   arcs, frames, functions: the sizes of what follows; 0 arcs for none
   arc_tokens, places: (arcs); the arcs whose scores depend on frames, and 0 where they lead from the node on top, 1 where
       they lead from the second node
   rows: (frames, arcs); a row of `of_functions` plus 1; 0 for none
   of_functions: (functions, dim); its product with the output of the decoder is added to the score of the arc */
typedef struct {
    int64_t half, heads, d, inner, layers, largest, words, windows[KINDS], end, prior_rows, entries, arcs,
        frames, functions;
    float scale, norm_epsilon;
    const Weights *const *products;
    const char *const *norms;
    const float *epsilons;
    const int32_t *roles;
    const char *const *positions;
    const char *embedded, *sinusoids, *norm, *norm_bias, *output;
    const char *const *memories;
    const int32_t *lengths;
    const int64_t *offsets, *prior_tokens;
    const char *values;
    const int64_t *arc_tokens, *places, *rows;
    const char *of_functions;
} Network;

/* An action, whose `before` is an Action, too. Its keys and values in layer i are at keys + i stride. */
typedef struct {
    Step step;
    char *keys;
    int64_t stride;
} Action;

/* last: the last action
   total: the log-probability of all actions */
typedef struct {
    AmrState state;
    Action *last;
    float total;
} Hypothesis;

typedef union MemoryBlock {
    union MemoryBlock *next;
    max_align_t aligned;
} MemoryBlock;

/* The search of one sentence.

   rows: the number of hypotheses
   step: the number of actions of each hypothesis
   finished: the number of derivations that were found
   now, spare: (beam); the hypotheses, and room for the hypotheses after the next step
   tokens: the tokens that some hypothesis may take
   legal: (beam, vocabulary); see `read_legality`
   ranks: (beam, words + 1) for the stack and for the buffer
   best, count: (beam); the best continuations, and their number
   blocks: the memory of the search
   no_memory: 1 if there was no memory for a block */
typedef struct {
    const Network *network;
    const AmrTable *table;
    const Found *found;
    int64_t sentence, beam, rows, step, finished, words, count;
    Hypothesis *now, *spare;
    AmrTokens tokens;
    int8_t *legal;
    int64_t *ranks[KINDS];
    Continued *best;
    MemoryBlock *blocks;
    int no_memory;
} AmrSearch;

/* The scratch memory of one thread for the scores of actions.

   keys: (vocabulary + AHEAD); addresses of output embeddings
   tokens: (vocabulary)
   place: (vocabulary); the index of a token in `tokens`
   products: (SHARING, vocabulary + AHEAD)
   added: (MOST_ARCS + AHEAD) */
typedef struct {
    const char **keys;
    int64_t *tokens, *place;
    float *products, *added;
} ScoreRoom;

/* Return zeroed memory that lives as long as the search. Without memory, set `no_memory` and return NULL. */
static void *room_for(AmrSearch *search, int64_t count, int64_t size) {
    MemoryBlock *block = calloc(1, sizeof *block + count * size);
    if (!block) {
        search->no_memory = 1;
        return NULL;
    }
    block->next = search->blocks;
    search->blocks = block;
    return block + 1;
}

static void release(AmrSearch *search) {
    while (search->blocks) {
        MemoryBlock *next = search->blocks->next;
        free(search->blocks);
        search->blocks = next;
    }
}

/* Return room for `beam` hypotheses. */
static Hypothesis *room_for_hypotheses(AmrSearch *search, int64_t nodes) {
    const int64_t span = 2 * search->table->span;
    Hypothesis *rows = room_for(search, search->beam, sizeof *rows);
    AmrNode *of_nodes = room_for(search, search->beam * nodes, sizeof *of_nodes);
    int64_t *named = room_for(search, search->beam * (span + 1), sizeof *named);
    for (int64_t i = 0; i < search->beam && !search->no_memory; i++)
        rows[i].state = (AmrState){.nodes = of_nodes + i * nodes, .named = named + i * span};
    return rows;
}

/* Begin the search of a sentence. Return NULL, or a message about wrong arguments.

   row: the row of the sentence before the first action */
static const char *begin(AmrSearch *search, const Network *network, const AmrTable *table, const Found *found,
                         const AmrRow *row, int64_t sentence, int64_t beam) {
    *search = (AmrSearch){network, table, found, sentence, beam, .words = row->length};
    if (row->sentence != sentence || OUTSIDE(row->length, table->words) || OUTSIDE(row->nodes_left, INT32_MAX))
        return "rows: beyond the words that there are";
    if (OUTSIDE(network->lengths[sentence], row->length + 2)) return "lengths: beyond the words that there are";
    search->now = room_for_hypotheses(search, row->nodes_left + 1);
    search->spare = room_for_hypotheses(search, row->nodes_left + 1);
    search->tokens.tokens = room_for(search, table->vocabulary, sizeof(int64_t));
    search->tokens.marks = room_for(search, table->vocabulary, 1);
    search->legal = room_for(search, beam * table->vocabulary, 1);
    for (int kind = 0; kind < KINDS; kind++)
        search->ranks[kind] = room_for(search, beam * (row->length + 1), sizeof(int64_t));
    search->best = room_for(search, beam, sizeof(Continued));
    Action *first = room_for(search, 1, sizeof *first);
    if (search->no_memory) return NO_MEMORY;
    first->step.token = (int32_t)network->end;
    search->now->last = first;
    search->rows = 1;
    return first_state(table, row, &search->now->state);
}

/* Prepare a step: find the legal actions and the ranks of words, and compute the inputs of the decoder. Return NULL, or
   a message about wrong arguments.

   x: (rows, dim); the result; the scaled embedding of each last action plus the vector of the step */
static const char *prepare(AmrSearch *search, char *x) {
    const Network *by = search->network;
    const int64_t dim = by->heads * by->d, bytes = dim * (by->half ? 2 : 4), words = search->words + 1;
    char *newest = room_for(search, search->rows, by->layers * 2 * bytes);
    const char *step = by->sinusoids + search->step * bytes;
    if (!newest) return NO_MEMORY;
    for (int64_t i = 0; i < search->tokens.count; i++) { /* of the previous step */
        const int64_t token = search->tokens.tokens[i];
        search->tokens.marks[token] = 0;
        for (int64_t row = 0; row < search->beam; row++) search->legal[row * search->table->vocabulary + token] = 0;
    }
    search->tokens.count = 0;
    for (int64_t row = 0; row < search->rows; row++, x += bytes) {
        const Hypothesis *one = search->now + row;
        read_legality(search->table, &one->state, search->legal + row * search->table->vocabulary, &search->tokens);
        stack_ranks(&one->state, search->ranks[0] + row * words);
        buffer_ranks(&one->state, search->ranks[1] + row * words);
        one->last->keys = newest + row * 2 * bytes;
        one->last->stride = search->rows * 2 * bytes;
        const char *action = by->embedded + one->last->step.token * bytes;
        for (int64_t i = 0; i < dim; i++) {
            if (by->half) {
                const uint16_t scaled = round_to_half(widen(((const uint16_t *)action)[i]) * by->scale);
                ((uint16_t *)x)[i] = round_to_half(widen(scaled) + widen(((const uint16_t *)step)[i]));
            } else {
                ((float *)x)[i] = ((const float *)action)[i] * by->scale + ((const float *)step)[i];
            }
        }
    }
    for (int kind = 0; kind < KINDS; kind++) /* words outside the window get the rank 0 */
        for (int64_t i = 0; by->windows[kind] && i < search->rows * words; i++)
            if (search->ranks[kind][i] > by->windows[kind]) search->ranks[kind][i] = 0;
    return NULL;
}

/* Select the words that heads of a role see from a hypothesis.

   ranks: the ranks of words in the role
   every: the keys of all words
   positions: (KINDS, largest + 1, dim) or NULL
   keys: the result; the keys of the words whose rank is not 0
   added: the result; the state positions of these words; nothing without positions */
static void keys_of_role(const AmrSearch *search, const int64_t *ranks, int32_t role, const Keys *every,
                         const char *positions, int64_t bytes, Keys *keys, Keys *added) {
    const int64_t largest = search->network->largest;
    for (int64_t word = 0; word < every->count; word++) {
        if (!ranks[word]) continue;
        const int64_t rank = ranks[word] < largest ? ranks[word] : largest;
        if (positions) added->at[keys->count] = positions + (role * (largest + 1) + rank) * bytes;
        keys->at[keys->count++] = every->at[word];
    }
    end_keys(keys);
    added->count = positions ? keys->count : 0;
    end_keys(added);
}

/* Replace the hypotheses by the best continuations. Complete derivations are results. Once `beam` of them were found, no
   hypothesis is left. Return NULL, or a message about wrong arguments. */
static const char *follow(AmrSearch *search) {
    Action *actions = room_for(search, search->count, sizeof *actions);
    if (!actions) return NO_MEMORY;
    search->rows = 0;
    search->step++;
    for (int64_t i = 0; i < search->count; i++) {
        const Continued *best = search->best + i;
        const Hypothesis *from = search->now + best->row;
        Hypothesis *to = search->spare + search->rows;
        AmrNode *nodes = to->state.nodes;
        int64_t *named = to->state.named;
        memcpy(nodes, from->state.nodes, from->state.row.depth * sizeof *nodes);
        memcpy(named, from->state.named, 2 * search->table->span * sizeof *named);
        *to = (Hypothesis){from->state, actions + i, best->total};
        to->state.nodes = nodes;
        to->state.named = named;
        actions[i].step = (Step){&from->last->step, (int32_t)best->token, best->added};
        take_amr_action(search->table, &to->state, best->token);
        if (to->state.columns[END])
            write_derivation(search->found, search->sentence * 2 * search->beam + search->finished++, search->step,
                             &actions[i].step);
        else
            search->rows++;
    }
    if (search->finished >= search->beam) search->rows = 0;
    Hypothesis *now = search->now;
    search->now = search->spare;
    search->spare = now;
    return NULL;
}
