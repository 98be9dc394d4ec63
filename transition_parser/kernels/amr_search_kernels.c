/* Search for the AMR of one sentence with the Stack-Transformer, by one call. Each step does what `_Search` of
   parsing/search.py and the decoder's `step` do, without Python between its parts.

   This library is not linked to the libraries that compute the parts of a step. Python passes the addresses of their
   functions (`Parts`).

   Numbers of the network are float, or bfloat16 where `half` is 1. Dimension: R rows (hypotheses), at most `beam`.

   Functions return NULL, or a message about wrong arguments. amr_search_kernels.py checks types and sizes. The parts of
   a step check each index that they use. */

#include <stddef.h>
#include <stdlib.h>

#include "amr_machine.h"
#include "legality.h"
#include "steps.h"

enum { KINDS = 2 };      /* the kinds of words that heads see: the stack, the buffer */
enum { MORE_SLOTS = 8 }; /* the number of slots for nodes that each row gets when its slots run out */

static const char *const NO_MEMORY = "no memory for search";

/* The functions that compute the parts of a step. */
typedef struct {
    __typeof__(&legal_anywhere) legal_anywhere;
    __typeof__(&legality) legality;
    __typeof__(&stack_ranks) stack_ranks;
    __typeof__(&buffer_ranks) buffer_ranks;
    __typeof__(&decoder_layers) decoder_layers;
    __typeof__(&add_and_normalise) add_and_normalise;
    __typeof__(&legal_scores) legal_scores;
    __typeof__(&best_continuations) best_continuations;
    __typeof__(&take_amr_actions) take_amr_actions;
} Parts;

/* The decoder. The fields that are not listed are arguments of `decoder_layers` and of `legal_scores`.

   stack_window, buffer_window: the numbers of ranks of the stack and of the buffer that heads see; 0 for all
   end: the token before the first action
   lexicon_rows, entries: the sizes of the lexical prior; 0 for no prior
   scale: the factor of embedded actions
   embedded, output: (vocabulary, dim); the vectors of actions, as inputs and as outputs
   sinusoids: (most, dim); the vector of each step
   norm, norm_bias, norm_epsilon: the norm before the first layer
   offsets, prior_tokens, values: the lexical prior */
typedef struct {
    int64_t half, dim, heads, inner, layers, stack_window, buffer_window, largest, end, lexicon_rows, entries;
    float scale, norm_epsilon;
    const char *embedded, *sinusoids, *norm, *norm_bias, *output;
    const char *const *weights;
    const float *epsilons;
    const char *const *memories, *const *positions;
    const int32_t *lengths, *roles;
    const int64_t *offsets, *prior_tokens;
    const char *values;
} Network;

/* The results of search, see `search_amr`. */
typedef struct {
    int64_t *count, *steps;
    int32_t *actions;
    float *added;
} Found;

/* The configurations of all rows, see `take_amr_actions`. */
typedef struct {
    Row *numbers;
    Node *nodes;
    int64_t *named, *context;
    uint8_t *columns;
} Rows;

/* The record of one step.

   origin: (R); the row of the step before that each row continues; NULL where each row continues its own
   tokens: (R); the action that each row takes
   added: (R); the log-probability of each action */
typedef struct {
    int32_t *origin, *tokens;
    float *added;
} Step;

typedef union Block {
    union Block *next;
    max_align_t aligned;
} Block;

/* The whole search.

   most: the largest number of actions of a derivation
   wide: the number of values of a context
   rows: the number of rows
   count: the number of steps that were taken
   now, spare: the rows, and room for the rows after the next step
   tokens: (R); the last action of each row
   some: (scored); the actions that some row may take
   legal, scores: (R, scored); the legality and the scores of these actions
   totals: (R); the log-probability of each hypothesis so far, at most DEAD for dead hypotheses
   chosen, best, added: (beam); the results of `best_continuations`
   spans: (R); the lexicon row of each current span
   stack, buffer: (R, words); the ranks of words
   x, normed: (R, dim); the input of the decoder, and its norm
   zeros: (R, dim); zeros
   finished: the number of derivations that were found
   steps: (most + 1); the record of each step
   caches, cache_sizes, cache_rows, origins, origin_sizes: arguments of `decoder_layers`
   sentence: (beam); zeros, because all rows are of the first sentence */
typedef struct {
    const Parts *parts;
    const Network *network;
    const Vocabulary *all;
    Setting setting;
    int64_t beam, most, wide, rows, count, scored, finished;
    Rows now, spare;
    int64_t *tokens, *some, *chosen, *spans, *stack, *buffer, *origin_sizes;
    int64_t **cache_sizes;
    int32_t *sentence, **origins;
    const int32_t ***cache_rows;
    float *legal, *totals, *best, *added;
    char *x, *normed, *zeros, *scores, ***caches;
    Step *steps;
    Block *blocks;
    int no_memory;
} Search;

/* Return zeroed memory that lives as long as the search; NULL, remembered in `no_memory`, where there is none. */
static void *room(Search *search, int64_t count, int64_t size) {
    Block *block = calloc(1, sizeof *block + count * size);
    if (!block) {
        search->no_memory = 1;
        return NULL;
    }
    block->next = search->blocks;
    search->blocks = block;
    return block + 1;
}

static void release(Block *block) {
    while (block) {
        Block *next = block->next;
        free(block);
        block = next;
    }
}

static int64_t size_of(const Network *network) { return network->half ? 2 : 4; }

static Rows room_for_rows(Search *search, int named) {
    const int64_t rows = search->beam;
    return (Rows){room(search, rows, sizeof(Row)), room(search, rows * search->setting.slots, sizeof(Node)),
                  named ? room(search, rows * 2 * search->setting.span, sizeof(int64_t)) : NULL,
                  room(search, rows * search->wide, sizeof(int64_t)), room(search, rows, COLUMNS)};
}

/* Copy the row number `row` of one set to the row number `to_row` of another one. */
static void copy_row(const Search *search, const Rows *from, int64_t row, const Rows *to, int64_t to_row) {
    const int64_t span = 2 * search->setting.span, wide = search->wide, slots = search->setting.slots;
    to->numbers[to_row] = from->numbers[row];
    memcpy(to->nodes + to_row * slots, from->nodes + row * slots, slots * sizeof(Node));
    if (from->named) memcpy(to->named + to_row * span, from->named + row * span, span * sizeof(int64_t));
    memcpy(to->context + to_row * wide, from->context + row * wide, wide * sizeof(int64_t));
    memcpy(to->columns + to_row * COLUMNS, from->columns + row * COLUMNS, COLUMNS);
}

/* Let each row have a free slot for a node. */
static void make_room(Search *search) {
    int64_t deepest = 0;
    for (int64_t row = 0; row < search->rows; row++)
        if (search->now.numbers[row].depth > deepest) deepest = search->now.numbers[row].depth;
    const int64_t slots = search->setting.slots, more = slots + MORE_SLOTS;
    if (deepest < slots) return;
    Node *nodes = room(search, search->beam * more, sizeof(Node));
    Node *spare = room(search, search->beam * more, sizeof(Node));
    if (search->no_memory) return;
    for (int64_t row = 0; row < search->rows; row++)
        memcpy(nodes + row * more, search->now.nodes + row * slots, slots * sizeof(Node));
    search->now.nodes = nodes;
    search->spare.nodes = spare;
    search->setting.slots = more;
}

/* Compute the decoder's input of each row, the scaled embedding of its last action plus the vector of the step, and the
   norm of the input. */
static void embed(const Search *search) {
    const Network *network = search->network;
    const int64_t dim = network->dim, bytes = dim * size_of(network);
    const char *step = network->sinusoids + search->count * bytes;
    for (int64_t row = 0; row < search->rows; row++) {
        char *x = search->x + row * bytes;
        const char *action = network->embedded + search->tokens[row] * bytes;
        for (int64_t i = 0; i < dim; i++) {
            if (network->half) {
                const uint16_t scaled = round_to_half(widen(((const uint16_t *)action)[i]) * network->scale);
                ((uint16_t *)x)[i] = round_to_half(widen(scaled) + widen(((const uint16_t *)step)[i]));
            } else { /* two roundings, because the file is compiled without fused operations */
                const float scaled = ((const float *)action)[i] * network->scale;
                ((float *)x)[i] = scaled + ((const float *)step)[i];
            }
        }
    }
    search->parts->add_and_normalise((int)network->half, search->rows, dim, search->x, search->zeros, network->norm,
                                     network->norm_bias, network->norm_epsilon, search->normed);
}

/* Compute the ranks of words on the stack and in the buffer; 0 outside the window. */
static const char *rank(const Search *search) {
    const int64_t numbers = search->rows * search->setting.words;
    const int64_t of_stack = search->network->stack_window, of_buffer = search->network->buffer_window;
    const Rows *now = &search->now;
    const char *problem =
        search->parts->stack_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->stack);
    if (!problem)
        problem = search->parts->buffer_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->buffer);
    for (int64_t i = 0; i < numbers; i++) {
        if (of_stack && search->stack[i] > of_stack) search->stack[i] = 0;
        if (of_buffer && search->buffer[i] > of_buffer) search->buffer[i] = 0;
    }
    return problem;
}

/* Compute the norm of the output of the last layer, and keep the keys and values of the step. */
static const char *decode(Search *search) {
    const Network *network = search->network;
    const int64_t rows = search->rows, count = search->count, words = search->setting.words;
    for (int64_t layer = 0; layer < network->layers; layer++) {
        search->caches[layer][count] = room(search, rows * 2 * network->dim, size_of(network));
        search->cache_sizes[layer][count] = rows;
    }
    if (search->no_memory) return NO_MEMORY;
    embed(search);
    const int64_t *ranks[KINDS] = {search->stack, search->buffer};
    return search->parts->decoder_layers(
        (int)network->half, rows, network->heads, network->dim / network->heads, network->inner, network->layers,
        network->weights, network->epsilons, count + 1, (const char *const *const *)search->caches,
        (const int64_t *const *)search->cache_sizes, (const int32_t *const *)search->origins, search->origin_sizes,
        (const int32_t *const *const *)search->cache_rows, (const int64_t *const *)search->cache_sizes, 1, words, rows,
        KINDS, words, network->largest, network->memories, search->sentence, network->lengths, network->roles, ranks,
        network->positions, search->x, search->normed);
}

/* Compute the scores of the actions that some row may take. */
static const char *score(Search *search) {
    const Parts *parts = search->parts;
    const Network *network = search->network;
    const Rows *now = &search->now;
    const int64_t rows = search->rows;
    const char *problem = parts->legal_anywhere(rows, search->all, search->wide, now->columns, now->context,
                                                search->some, &search->scored);
    if (!problem)
        problem = parts->legality(rows, search->all, search->wide, now->columns, now->context,
                                  search->setting.labelled, search->scored, search->some, search->legal);
    if (!problem) problem = rank(search);
    if (!problem) problem = decode(search);
    if (problem) return problem;
    for (int64_t row = 0; row < rows; row++) search->spans[row] = now->context[row * search->wide + 1];
    return parts->legal_scores((int)network->half, rows, network->dim, rows, search->scored, search->all->size,
                               search->normed, network->output, search->some, NULL, search->legal,
                               network->lexicon_rows, network->entries, network->entries ? search->spans : NULL,
                               network->offsets, network->prior_tokens, network->values, search->scores);
}

/* Replace the rows by the best continuations. */
static const char *choose(Search *search) {
    const int64_t actions = search->scored, all = search->rows * actions;
    const int64_t rows = search->beam < all ? search->beam : all;
    const char *problem = search->parts->best_continuations(
        (int)search->network->half, search->rows, 1, search->rows, actions, search->scores, NULL, search->legal,
        search->totals, rows, search->best, search->added, search->chosen);
    if (problem) return problem;
    const int moved = search->beam > 1; /* greedy search ranks nothing */
    Step *step = search->steps + search->count;
    step->tokens = room(search, rows, sizeof *step->tokens);
    step->added = room(search, rows, sizeof *step->added);
    step->origin = moved ? room(search, rows, sizeof *step->origin) : NULL;
    if (search->no_memory) return NO_MEMORY;
    for (int64_t row = 0; row < rows; row++) {
        search->tokens[row] = search->some[search->chosen[row] % actions];
        search->totals[row] = search->best[row] > DEAD ? search->best[row] : 2.0f * DEAD;
        step->tokens[row] = (int32_t)search->tokens[row];
        step->added[row] = search->added[row];
        if (!moved) continue;
        step->origin[row] = (int32_t)(search->chosen[row] / actions);
        copy_row(search, &search->now, step->origin[row], &search->spare, row);
    }
    if (moved) {
        const Rows now = search->now;
        search->now = search->spare;
        search->spare = now;
    }
    search->origins[search->count + 1] = step->origin;
    search->origin_sizes[search->count + 1] = rows;
    search->rows = rows;
    return NULL;
}

/* Take the action of each row. */
static const char *follow(Search *search) {
    make_room(search);
    if (search->no_memory) return NO_MEMORY;
    Rows *now = &search->now, *spare = &search->spare;
    const char *problem =
        search->parts->take_amr_actions(search->rows, &search->setting, search->tokens, now->numbers, now->nodes,
                                        now->named, now->columns, now->context, spare->columns, spare->context);
    uint8_t *columns = now->columns;
    int64_t *context = now->context;
    now->columns = spare->columns;
    now->context = spare->context;
    spare->columns = columns;
    spare->context = context;
    return problem;
}

/* Write down the derivation that the last action of a row has completed. */
static void record(Search *search, int64_t row, const Found *found) {
    const int64_t first = search->finished * search->most;
    found->steps[search->finished++] = search->count;
    for (int64_t number = search->count - 1; number >= 0; number--) {
        const Step *step = search->steps + number;
        found->actions[first + number] = step->tokens[row];
        found->added[first + number] = step->added[row];
        if (step->origin) row = step->origin[row];
    }
}

/* Write down the derivations that are complete, and mark their rows as dead. Return 1 if search goes on: some row
   lives, and fewer than `beam` derivations were found. */
static int finish(Search *search, const Found *found) {
    int alive = 0;
    for (int64_t row = 0; row < search->rows; row++) {
        if (search->totals[row] > DEAD && search->now.columns[row * COLUMNS + END]) {
            record(search, row, found);
            search->totals[row] = 2.0f * DEAD;
        }
        alive |= search->totals[row] > DEAD;
    }
    return alive && search->finished < search->beam;
}

static void allocate(Search *search, int named) {
    const Network *network = search->network;
    const int64_t rows = search->beam, size = size_of(network), actions = search->all->size;
    const int64_t words = search->setting.words, steps = search->most + 1;
    search->now = room_for_rows(search, named);
    search->spare = room_for_rows(search, named);
    int64_t **numbers[] = {&search->tokens, &search->spans, &search->chosen};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = room(search, rows, sizeof(int64_t));
    search->some = room(search, actions, sizeof(int64_t));
    search->stack = room(search, rows * words, sizeof(int64_t));
    search->buffer = room(search, rows * words, sizeof(int64_t));
    float **scores[] = {&search->totals, &search->best, &search->added};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) *scores[i] = room(search, rows, sizeof(float));
    search->legal = room(search, rows * actions, sizeof(float));
    search->scores = room(search, rows * actions, size);
    char **vectors[] = {&search->x, &search->normed, &search->zeros};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = room(search, rows * network->dim, size);
    search->sentence = room(search, rows, sizeof(int32_t));
    search->steps = room(search, steps, sizeof(Step));
    search->origins = room(search, steps, sizeof(int32_t *));
    search->origin_sizes = room(search, steps, sizeof(int64_t));
    search->caches = room(search, network->layers, sizeof(char **));
    search->cache_sizes = room(search, network->layers, sizeof(int64_t *));
    search->cache_rows = room(search, network->layers, sizeof(int32_t **)); /* all NULL: each row has its own cache */
    for (int64_t layer = 0; layer < network->layers && !search->no_memory; layer++) {
        search->caches[layer] = room(search, steps, sizeof(char *));
        search->cache_sizes[layer] = room(search, steps, sizeof(int64_t));
    }
}

static const char *run(Search *search, const Rows *initial, const Found *found) {
    allocate(search, initial->named != NULL);
    if (search->no_memory) return NO_MEMORY;
    copy_row(search, initial, 0, &search->now, 0);
    search->tokens[0] = search->network->end;
    search->origin_sizes[0] = search->rows = 1;
    int alive = 1;
    while (alive) {
        if (search->count == search->most) return "most: a derivation has more actions";
        const char *problem = score(search);
        if (!problem) problem = choose(search);
        if (!problem) problem = follow(search);
        if (problem) return problem;
        search->count++;
        alive = finish(search, found);
    }
    *found->count = search->finished;
    return NULL;
}

/* Find derivations of the AMR of one sentence by beam search, until `beam` of them are complete. Return NULL, or a
   message about wrong arguments.

   setting: the machine; where it is `labelled`, SHIFTs must name the word in front
   all: the actions
   beam: the number of hypotheses that are kept; 1 is greedy search
   most: the largest number of actions of a derivation
   wide: the number of values of a context
   numbers, nodes, named, columns, context: the row before the first action, as for `take_amr_actions`
   count: the result; the number of derivations that were found, at most 2 beam
   steps: (2 beam); the result; the number of actions of each derivation
   actions, added: (2 beam, most); the results; the actions and their log-probabilities */
const char *search_amr(const Parts *parts, const Network *network, const Setting *setting, const Vocabulary *all,
                       int64_t beam, int64_t most, int64_t wide, Row *numbers, Node *nodes, int64_t *named,
                       uint8_t *columns, int64_t *context, int64_t *count, int64_t *steps, int32_t *actions,
                       float *added) {
    Search search = {.parts = parts, .network = network, .all = all,  .setting = *setting,
                     .beam = beam,   .most = most,       .wide = wide};
    const Rows initial = {numbers, nodes, named, context, columns};
    const Found found = {count, steps, actions, added};
    if (OUTSIDE(network->end, all->size)) return "end: beyond the vocabulary";
    const char *problem = run(&search, &initial, &found);
    release(search.blocks);
    return problem;
}
