/* Search for AMRs with the Stack-Transformer by one call, for a few hypotheses. Each step is what `_Search` of
   parsing/search.py and the decoder's `step` do, without Python between its parts.

   This library is not linked to the libraries that compute the parts of a step. Python passes the addresses of their
   functions (`Parts`).

   Numbers of the network are float, or bfloat16 where `half` is 1. Dimensions: B sentences, R rows (hypotheses), at
   most B × beam; those of a sentence follow each other.

   Functions return NULL, or a message about wrong arguments. amr_search_kernels.py checks types and sizes. The parts of
   a step check each index that they use. */

#include <stddef.h>
#include <stdlib.h>

#include "amr_machine.h"
#include "legality.h"
#include "steps.h"

#define DEAD -1e30f    /* totals at or below it mark dead hypotheses, as in search_kernels.c */
enum { KINDS = 2 };      /* heads that see the parser state see the stack or the buffer */
enum { MORE_SLOTS = 8 }; /* how many slots for nodes are added where they run out */

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

/* The decoder. Weights, epsilons, roles, lengths, memories and positions are as for `decoder_layers`.

   window: heads see so many ranks of the stack, and 2 of the buffer; 0 for all
   end: the token before the first action
   lexicon_rows, entries: the sizes of the prior; 0 for none
   scale: what embedded actions are multiplied by
   embedded, output: (vocabulary, dim); the vectors of actions, as inputs and as outputs
   sinusoids: (most, dim); the vector of each step
   norm, norm_bias, norm_epsilon: the norm before the first layer
   offsets, named, values: the lexical prior, as for `legal_scores` */
typedef struct {
    int64_t half, dim, heads, inner, layers, window, largest, end, lexicon_rows, entries;
    float scale, norm_epsilon;
    const char *embedded, *sinusoids, *norm, *norm_bias, *output;
    const char *const *weights;
    const float *epsilons;
    const char *const *memories, *const *positions;
    const int32_t *lengths, *roles;
    const int64_t *offsets, *named;
    const char *values;
} Network;

/* What search returns, see `search_amrs`. */
typedef struct {
    int64_t *counts, *steps;
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

/* What is kept of one step: the row of the step before that each row continues (NULL: its own), the action that it
   takes, and the log-probability of the action. */
typedef struct {
    int32_t *origin, *tokens;
    float *added;
} Step;

typedef union Block {
    union Block *next;
    max_align_t aligned;
} Block;

/* The whole search. `width` hypotheses a sentence are `rows` rows. `spare` has room for the rows after a step.

   scored: the number of actions that some row may take, which are in `some`
   totals: (R); the log-probability of each hypothesis so far, below DEAD for dead hypotheses
   chosen: (B, beam); the index of each best continuation
   caches, cache_sizes, cache_rows, origins, origin_sizes: as for `decoder_layers` */
typedef struct {
    const Parts *parts;
    const Network *network;
    const Vocabulary *all;
    Setting setting;
    int64_t sentences, beam, most, wide, width, rows, count, scored;
    Rows now, spare;
    int64_t *tokens, *some, *chosen, *spans, *stack, *buffer, *origin_sizes;
    int64_t **cache_sizes;
    int32_t *sentence, **origins, *finished;
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

static Rows room_for_rows(Search *search, int64_t rows, int64_t slots, int named) {
    return (Rows){room(search, rows, sizeof(Row)), room(search, rows * slots, sizeof(Node)),
                  named ? room(search, rows * 2 * search->setting.span, sizeof(int64_t)) : NULL,
                  room(search, rows * search->wide, sizeof(int64_t)), room(search, rows, COLUMNS)};
}

/* Copy a row of one set to a row of another one, whose rows may have more slots. */
static void copy_row(const Search *search, const Rows *from, int64_t row, int64_t slots, const Rows *to, int64_t place,
                     int64_t more_slots) {
    const int64_t span = 2 * search->setting.span;
    to->numbers[place] = from->numbers[row];
    memcpy(to->nodes + place * more_slots, from->nodes + row * slots, slots * sizeof(Node));
    if (from->named) memcpy(to->named + place * span, from->named + row * span, span * sizeof(int64_t));
    memcpy(to->context + place * search->wide, from->context + row * search->wide, search->wide * sizeof(int64_t));
    memcpy(to->columns + place * COLUMNS, from->columns + row * COLUMNS, COLUMNS);
}

/* Let each row have a free slot for a node. */
static void make_room(Search *search) {
    int64_t deepest = 0;
    for (int64_t row = 0; row < search->rows; row++)
        if (search->now.numbers[row].depth > deepest) deepest = search->now.numbers[row].depth;
    const int64_t slots = search->setting.slots, more = slots + MORE_SLOTS, rows = search->sentences * search->beam;
    if (deepest < slots) return;
    const Rows larger = room_for_rows(search, rows, more, search->now.named != NULL);
    Node *nodes = room(search, rows * more, sizeof(Node));
    if (search->no_memory) return;
    for (int64_t row = 0; row < search->rows; row++) copy_row(search, &search->now, row, slots, &larger, row, more);
    search->now = larger;
    search->spare.nodes = nodes;
    search->setting.slots = more;
}

/* Compute the embedding of each row's last action, and its place among the actions. */
static void embed(const Search *search) {
    const Network *network = search->network;
    const int64_t dim = network->dim, bytes = dim * size_of(network);
    for (int64_t row = 0; row < search->rows; row++) {
        char *x = search->x + row * bytes;
        const char *vector = network->embedded + search->tokens[row] * bytes;
        const char *place = network->sinusoids + search->count * bytes;
        for (int64_t i = 0; i < dim; i++) {
            if (network->half) {
                const uint16_t scaled = round_to_half(widen(((const uint16_t *)vector)[i]) * network->scale);
                ((uint16_t *)x)[i] = round_to_half(widen(scaled) + widen(((const uint16_t *)place)[i]));
            } else { /* two roundings: the file is compiled without fused operations */
                const float scaled = ((const float *)vector)[i] * network->scale;
                ((float *)x)[i] = scaled + ((const float *)place)[i];
            }
        }
    }
    search->parts->add_and_normalise((int)network->half, search->rows, dim, search->x, search->zeros, network->norm,
                                     network->norm_bias, network->norm_epsilon, search->normed);
}

/* Compute the ranks of words, as far as heads see them. */
static const char *rank(const Search *search) {
    const int64_t numbers = search->rows * search->setting.words, window = search->network->window;
    const Rows *now = &search->now;
    const char *problem =
        search->parts->stack_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->stack);
    if (!problem)
        problem = search->parts->buffer_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->buffer);
    for (int64_t i = 0; window && i < numbers; i++) {
        if (search->stack[i] > window) search->stack[i] = 0;
        if (search->buffer[i] > 2) search->buffer[i] = 0;
    }
    return problem;
}

/* Compute the scores of the actions that some row may take. */
static const char *score(Search *search) {
    const Parts *parts = search->parts;
    const Network *network = search->network;
    const Rows *now = &search->now;
    const int64_t rows = search->rows, count = search->count, bytes = network->dim * size_of(network);
    const char *problem = parts->legal_anywhere(rows, search->all, search->wide, now->columns, now->context,
                                                search->some, &search->scored);
    if (!problem)
        problem = parts->legality(rows, search->all, search->wide, now->columns, now->context,
                                  search->setting.labelled, search->scored, search->some, search->legal);
    if (!problem) problem = rank(search);
    if (problem) return problem;
    for (int64_t layer = 0; layer < network->layers; layer++) {
        search->caches[layer][count] = room(search, rows * 2, bytes);
        search->cache_sizes[layer][count] = rows;
    }
    if (search->no_memory) return "no memory for search";
    embed(search);
    const int64_t *ranks[] = {search->stack, search->buffer};
    problem = parts->decoder_layers(
        (int)network->half, rows, network->heads, network->dim / network->heads, network->inner, network->layers,
        network->weights, network->epsilons, count + 1, (const char *const *const *)search->caches,
        (const int64_t *const *)search->cache_sizes, (const int32_t *const *)search->origins, search->origin_sizes,
        (const int32_t *const *const *)search->cache_rows, (const int64_t *const *)search->cache_sizes,
        search->sentences, search->setting.words, rows, KINDS, search->setting.words, network->largest,
        network->memories, search->sentence, network->lengths, network->roles, ranks, network->positions, search->x,
        search->normed);
    if (problem) return problem;
    for (int64_t row = 0; row < rows; row++) search->spans[row] = now->context[row * search->wide + 1];
    return parts->legal_scores((int)network->half, rows, network->dim, rows, search->scored, search->all->size,
                               search->normed, network->output, search->some, NULL, search->legal,
                               network->lexicon_rows, network->entries, network->entries ? search->spans : NULL,
                               network->offsets, network->named, network->values, search->scores);
}

/* Keep the best continuations of each sentence, and let the rows be these. */
static const char *choose(Search *search) {
    const int64_t before = search->rows, actions = search->scored, all = search->width * actions;
    const int64_t width = search->beam < all ? search->beam : all, rows = search->sentences * width;
    const char *problem = search->parts->best_continuations(
        (int)search->network->half, before, search->sentences, search->width, actions, search->scores, NULL,
        search->legal, search->totals, width, search->best, search->added, search->chosen);
    if (problem) return problem;
    const int moved = search->beam > 1; /* greedy search ranks nothing */
    Step *step = search->steps + search->count;
    step->tokens = room(search, rows, sizeof *step->tokens);
    step->added = room(search, rows, sizeof *step->added);
    step->origin = moved ? room(search, rows, sizeof *step->origin) : NULL;
    if (search->no_memory) return "no memory for search";
    const int64_t slots = search->setting.slots;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t sentence = row / width, origin = sentence * search->width + search->chosen[row] / actions;
        search->tokens[row] = search->some[search->chosen[row] % actions];
        search->totals[row] = search->best[row] > DEAD ? search->best[row] : 2.0f * DEAD;
        search->sentence[row] = (int32_t)sentence;
        step->tokens[row] = (int32_t)search->tokens[row];
        step->added[row] = search->added[row];
        if (!moved) continue;
        step->origin[row] = (int32_t)origin;
        copy_row(search, &search->now, origin, slots, &search->spare, row, slots);
    }
    if (moved) {
        const Rows now = search->now;
        search->now = search->spare;
        search->spare = now;
    }
    search->origins[search->count + 1] = step->origin;
    search->origin_sizes[search->count + 1] = rows;
    search->width = width;
    search->rows = rows;
    return NULL;
}

/* Take the action of each row. */
static const char *follow(Search *search) {
    make_room(search);
    if (search->no_memory) return "no memory for search";
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

/* Write down the derivation that the last action of a row ends. */
static void write_down(const Search *search, int64_t row, const Found *found) {
    const int64_t sentence = search->sentence[row], place = sentence * 2 * search->beam + found->counts[sentence]++;
    found->steps[place] = search->count;
    for (int64_t number = search->count - 1; number >= 0; number--) {
        const Step *step = search->steps + number;
        found->actions[place * search->most + number] = step->tokens[row];
        found->added[place * search->most + number] = step->added[row];
        if (step->origin) row = step->origin[row];
    }
}

/* Write down what is finished, and mark rows as dead: those, and all of a sentence with `beam` derivations. Return 1 if
   some row lives, else 0. */
static int finish(Search *search, const Found *found) {
    int alive = 0;
    for (int64_t row = 0; row < search->rows; row++) {
        if (search->totals[row] <= DEAD || !search->now.columns[row * COLUMNS + END]) continue;
        write_down(search, row, found);
        search->finished[search->sentence[row]]++;
        search->totals[row] = 2.0f * DEAD;
    }
    for (int64_t row = 0; row < search->rows; row++) {
        if (search->finished[search->sentence[row]] >= search->beam) search->totals[row] = 2.0f * DEAD;
        alive |= search->totals[row] > DEAD;
    }
    return alive;
}

static void allocate(Search *search) {
    const Network *network = search->network;
    const int64_t rows = search->sentences * search->beam, size = size_of(network), actions = search->all->size;
    const int64_t numbers = rows * network->dim, words = rows * search->setting.words, steps = search->most + 1;
    search->spare = room_for_rows(search, rows, search->setting.slots, search->now.named != NULL);
    int64_t **of_rows[] = {&search->tokens, &search->spans, &search->chosen};
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) *of_rows[i] = room(search, rows, sizeof(int64_t));
    search->some = room(search, actions, sizeof(int64_t));
    search->stack = room(search, words, sizeof(int64_t));
    search->buffer = room(search, words, sizeof(int64_t));
    float **scores[] = {&search->totals, &search->best, &search->added};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) *scores[i] = room(search, rows, sizeof(float));
    search->legal = room(search, rows * actions, sizeof(float));
    search->scores = room(search, rows * actions, size);
    char **vectors[] = {&search->x, &search->normed, &search->zeros};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = room(search, numbers, size);
    search->sentence = room(search, rows, sizeof(int32_t));
    search->finished = room(search, search->sentences, sizeof(int32_t));
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
    const int64_t slots = search->setting.slots;
    search->now = *initial;
    allocate(search);
    const Rows now = room_for_rows(search, search->sentences * search->beam, slots, initial->named != NULL);
    if (search->no_memory) return "no memory for search";
    for (int64_t row = 0; row < search->rows; row++) {
        copy_row(search, initial, row, slots, &now, row, slots);
        search->tokens[row] = search->network->end;
        search->sentence[row] = (int32_t)row;
    }
    search->now = now;
    search->origin_sizes[0] = search->rows;
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
    return NULL;
}

/* Find AMRs by beam search. Return NULL, or a message about wrong arguments.

   A sentence has found enough when `beam` of its derivations are complete.

   setting: of the machine; its SHIFTs are compared with the word in front
   all: the actions
   beam: the number of hypotheses kept for each sentence; 1 is greedy search
   most: the largest number of actions of a derivation
   wide: the number of values of a context
   numbers, nodes, named, columns, context: the rows of B sentences before the first action, as for `take_amr_actions`
   counts: (B); the result; how many derivations were found, at most 2 beam
   steps: (B, 2 beam); the result; the number of actions of each derivation
   actions, added: (B, 2 beam, most); the results; the actions and their log-probabilities */
const char *search_amrs(const Parts *parts, const Network *network, const Setting *setting, const Vocabulary *all,
                        int64_t sentences, int64_t beam, int64_t most, int64_t wide, Row *numbers, Node *nodes,
                        int64_t *named, uint8_t *columns, int64_t *context, int64_t *counts, int64_t *steps,
                        int32_t *actions, float *added) {
    Search search = {.parts = parts,         .network = network, .all = all,    .setting = *setting,
                     .sentences = sentences, .beam = beam,       .most = most,  .wide = wide,
                     .width = 1,             .rows = sentences};
    const Rows initial = {numbers, nodes, named, context, columns};
    const Found found = {counts, steps, actions, added};
    if (OUTSIDE(network->end, all->size)) return "end: beyond the vocabulary";
    const char *problem = run(&search, &initial, &found);
    release(search.blocks);
    return problem;
}
