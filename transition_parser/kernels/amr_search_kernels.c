/* Search for the AMRs of sentences with the Stack-Transformer, by one call. Each step does what `_Search` of
   parsing/search.py and the decoder's `step` do, without Python between its parts.

   Several sentences are searched side by side, so that the products of a step have many rows. A sentence that is done
   makes room for the next one. The result of a sentence depends neither on other sentences nor on the threads.

   This library is not linked to the libraries that compute the parts of a step. Python passes the addresses of their
   functions (`Parts`).

   Numbers of the network are float, or bfloat16 where `half` is 1. Dimensions: B sentences; R rows (hypotheses) of a
   sentence, at most `beam`.

   Functions return NULL, or a message about wrong arguments. amr_search_kernels.py checks types and sizes. The parts of
   a step check each index that they use. */

#include <stddef.h>
#include <stdlib.h>

#include "amr_machine.h"
#include "legality.h"
#include "steps.h"
#include "threads.h"

enum { KINDS = 2 };         /* the groups of words that a head may be limited to: the stack, the buffer */
enum { MORE_SLOTS = 8 };    /* the number of slots for nodes that each row gets when its slots run out */
enum { ROWS_AT_ONCE = 48 }; /* the largest number of rows computed together, but one sentence may have more */

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

/* The decoder. The fields that are not listed are arguments of `legal_scores`.

   layers: the layers
   words: the number of words of a sentence in the memories
   stack_window, buffer_window: how many words of the stack (from its top) and of the buffer heads see; 0 for all
   end: the token before the first action
   lexicon_rows, entries: the sizes of the lexical prior; 0 for no prior
   scale: the factor of the input embeddings
   embedded, output: (vocabulary, dim); the input and the output embeddings of actions
   sinusoids: (most, dim); the position vector of each step
   norm, norm_bias, norm_epsilon: the norm before the first layer
   memories: (layers), each (B, words, 2 dim); the keys and values of words
   lengths: (B); the number of words of each sentence
   offsets, prior_tokens, values: the lexical prior */
typedef struct {
    Decoder layers;
    int64_t words, stack_window, buffer_window, end, lexicon_rows, entries;
    float scale, norm_epsilon;
    const char *embedded, *sinusoids, *norm, *norm_bias, *output;
    const char *const *memories;
    const int32_t *lengths;
    const int64_t *offsets, *prior_tokens;
    const char *values;
} Network;

/* The results of search, see `search_amrs`. */
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

   origin: (R); the row of the previous step that each row continues; NULL if row i continues row i
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

/* The sentences of a batch, and what their searches share; see `search_amrs`.

   initial: (B); the rows before the first action */
typedef struct {
    const Parts *parts;
    const Network *network;
    const Setting *setting;
    const Vocabulary *vocabulary;
    int64_t beam, most, wide;
    Rows initial;
    Found found;
} Batch;

/* The search of one sentence.

   setting: the values that all rows share, with the numbers of words and of slots of this sentence
   found: the results of this sentence
   rows: the number of rows
   count: the number of steps that were taken
   finished: the number of derivations that were found
   now, spare: the rows, and room for the rows after the next step
   tokens: (R); the last action of each row
   some: (scored); the `scored` actions that at least one row may take, and perhaps others
   legal, scores: (R, scored); the legality and the scores of these actions
   totals: (R); the log-probability of each hypothesis so far, at most DEAD for dead hypotheses
   chosen, best, added: (beam); the results of `best_continuations`
   spans: (R); the lexicon row of each current span
   ranks: (R, words) for the stack and for the buffer; the ranks of words
   normed: (R, dim); the output of the decoder, a part of `normed` of `Together`
   steps: (most + 1); the record of each step
   memories, caches, cache_sizes, cache_rows, origins, origin_sizes: see `Group`
   sentence: (beam); zeros, because all rows are of the first sentence of the memories
   length: the number of words in the memories
   blocks: the memory of the search
   no_memory: 1 if there was no memory for a block */
typedef struct {
    const Batch *batch;
    Found found;
    Setting setting;
    int64_t rows, count, scored, finished;
    Rows now, spare;
    int64_t *tokens, *some, *chosen, *spans, *ranks[KINDS], *origin_sizes;
    int64_t **cache_sizes;
    int32_t *sentence, **origins;
    const int32_t *length, ***cache_rows;
    float *legal, *totals, *best, *added;
    char *scores, ***caches;
    const char *normed, **memories;
    Step *steps;
    Block *blocks;
    int no_memory;
} Search;

/* The searches side by side.

   most, count: the largest number of searches, and their number
   searches: (most); behind the first `count`, `blocks` is NULL
   groups: (most); the rows of each search
   x, normed: (rows of all searches, dim); the input of the decoder, and its norm, which becomes the output
   zeros: (rows of all searches, dim); zeros */
typedef struct {
    int64_t most, count;
    Search *searches;
    Group *groups;
    char *x, *normed, *zeros;
} Together;

/* Return zeroed memory that lives as long as the search. Without memory, set `no_memory` and return NULL. */
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

static int64_t size_of(const Network *network) { return network->layers.half ? 2 : 4; }

static int64_t dim_of(const Network *network) { return network->layers.heads * network->layers.d; }

static Rows room_for_rows(Search *search, int named) {
    const int64_t rows = search->batch->beam;
    return (Rows){room(search, rows, sizeof(Row)), room(search, rows * search->setting.slots, sizeof(Node)),
                  named ? room(search, rows * 2 * search->setting.span, sizeof(int64_t)) : NULL,
                  room(search, rows * search->batch->wide, sizeof(int64_t)), room(search, rows, COLUMNS)};
}

/* Copy row `row` of `from` to row `to_row` of `to`. */
static void copy_row(const Search *search, const Rows *from, int64_t row, const Rows *to, int64_t to_row) {
    const int64_t span = 2 * search->setting.span, wide = search->batch->wide, slots = search->setting.slots;
    to->numbers[to_row] = from->numbers[row];
    memcpy(to->nodes + to_row * slots, from->nodes + row * slots, slots * sizeof(Node));
    if (from->named) memcpy(to->named + to_row * span, from->named + row * span, span * sizeof(int64_t));
    memcpy(to->context + to_row * wide, from->context + row * wide, wide * sizeof(int64_t));
    memcpy(to->columns + to_row * COLUMNS, from->columns + row * COLUMNS, COLUMNS);
}

/* Make sure that each row has a free slot for a node. */
static void make_room(Search *search) {
    int64_t deepest = 0;
    for (int64_t row = 0; row < search->rows; row++)
        if (search->now.numbers[row].depth > deepest) deepest = search->now.numbers[row].depth;
    const int64_t slots = search->setting.slots, more = slots + MORE_SLOTS;
    if (deepest < slots) return;
    Node *nodes = room(search, search->batch->beam * more, sizeof(Node));
    Node *spare = room(search, search->batch->beam * more, sizeof(Node));
    if (search->no_memory) return;
    for (int64_t row = 0; row < search->rows; row++)
        memcpy(nodes + row * more, search->now.nodes + row * slots, slots * sizeof(Node));
    search->now.nodes = nodes;
    search->spare.nodes = spare;
    search->setting.slots = more;
}

/* Compute the decoder's input of each row: the scaled embedding of its last action plus the vector of the step.

   x: (R, dim); the result */
static void embed(const Search *search, char *x) {
    const Network *network = search->batch->network;
    const int64_t dim = dim_of(network), bytes = dim * size_of(network);
    const char *step = network->sinusoids + search->count * bytes;
    for (int64_t row = 0; row < search->rows; row++, x += bytes) {
        const char *action = network->embedded + search->tokens[row] * bytes;
        for (int64_t i = 0; i < dim; i++) {
            if (network->layers.half) {
                const uint16_t scaled = round_to_half(widen(((const uint16_t *)action)[i]) * network->scale);
                ((uint16_t *)x)[i] = round_to_half(widen(scaled) + widen(((const uint16_t *)step)[i]));
            } else { /* two roundings, because the file is compiled without fused operations */
                const float scaled = ((const float *)action)[i] * network->scale;
                ((float *)x)[i] = scaled + ((const float *)step)[i];
            }
        }
    }
}

/* Compute the ranks of words on the stack and in the buffer; words outside the window get the rank 0. */
static const char *rank(const Search *search) {
    const int64_t numbers = search->rows * search->setting.words;
    const Network *network = search->batch->network;
    const int64_t windows[KINDS] = {network->stack_window, network->buffer_window};
    const Parts *parts = search->batch->parts;
    const Rows *now = &search->now;
    const char *problem =
        parts->stack_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->ranks[0]);
    if (!problem)
        problem = parts->buffer_ranks(search->rows, &search->setting, now->numbers, now->nodes, search->ranks[1]);
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t i = 0; windows[kind] && i < numbers; i++)
            if (search->ranks[kind][i] > windows[kind]) search->ranks[kind][i] = 0;
    return problem;
}

/* Get room for the keys and values of a step. */
static void open_caches(Search *search) {
    const Network *network = search->batch->network;
    const int64_t layers = network->layers.layers, bytes = search->rows * 2 * dim_of(network) * size_of(network);
    char *newest = room(search, layers, bytes);
    for (int64_t layer = 0; newest && layer < layers; layer++, newest += bytes) {
        search->caches[layer][search->count] = newest;
        search->cache_sizes[layer][search->count] = search->rows;
    }
}

/* Prepare a step: find the actions that some row may take, and compute the inputs of the decoder.

   x: (R, dim); the result, the input of the decoder */
static const char *prepare(Search *search, char *x) {
    const Batch *batch = search->batch;
    const Rows *now = &search->now;
    const char *problem = batch->parts->legal_anywhere(search->rows, batch->vocabulary, batch->wide, now->columns,
                                                       now->context, search->some, &search->scored);
    if (!problem)
        problem = batch->parts->legality(search->rows, batch->vocabulary, batch->wide, now->columns, now->context,
                                         search->setting.labelled, search->scored, search->some, search->legal);
    if (!problem) problem = rank(search);
    if (problem) return problem;
    open_caches(search);
    if (search->no_memory) return NO_MEMORY;
    embed(search, x);
    return NULL;
}

static Group group_of(const Search *search) {
    return (Group){.rows = search->rows,
                   .steps = search->count + 1,
                   .caches = (const char *const *const *)search->caches,
                   .cache_sizes = (const int64_t *const *)search->cache_sizes,
                   .origin = (const int32_t *const *)search->origins,
                   .origin_sizes = search->origin_sizes,
                   .cache_rows = (const int32_t *const *const *)search->cache_rows,
                   .cache_row_sizes = (const int64_t *const *)search->cache_sizes,
                   .sentences = 1,
                   .width = search->batch->network->words,
                   .known = search->rows,
                   .stride = search->setting.words,
                   .memories = (const char *const *)search->memories,
                   .sentence = search->sentence,
                   .lengths = search->length,
                   .ranks = (const int64_t *const *)search->ranks};
}

/* Compute the scores of the actions that some row may take. */
static const char *score(Search *search) {
    const Batch *batch = search->batch;
    const Network *network = batch->network;
    const int64_t rows = search->rows;
    for (int64_t row = 0; row < rows; row++) search->spans[row] = search->now.context[row * batch->wide + 1];
    return batch->parts->legal_scores((int)network->layers.half, rows, dim_of(network), rows, search->scored,
                                      batch->vocabulary->size, search->normed, network->output, search->some, NULL,
                                      search->legal, network->lexicon_rows, network->entries,
                                      network->entries ? search->spans : NULL, network->offsets,
                                      network->prior_tokens, network->values, search->scores);
}

/* Replace the rows by the best continuations. */
static const char *choose(Search *search) {
    const Batch *batch = search->batch;
    const int64_t actions = search->scored, all = search->rows * actions;
    const int64_t rows = batch->beam < all ? batch->beam : all;
    const char *problem = batch->parts->best_continuations(
        (int)batch->network->layers.half, search->rows, 1, search->rows, actions, search->scores, NULL, search->legal,
        search->totals, rows, search->best, search->added, search->chosen);
    if (problem) return problem;
    const int moved = batch->beam > 1; /* greedy search keeps its single row */
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
        search->batch->parts->take_amr_actions(search->rows, &search->setting, search->tokens, now->numbers, now->nodes,
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
static void record(Search *search, int64_t row) {
    const Found *found = &search->found;
    const int64_t first = search->finished * search->batch->most;
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
static int finish(Search *search) {
    int alive = 0;
    for (int64_t row = 0; row < search->rows; row++) {
        if (search->totals[row] > DEAD && search->now.columns[row * COLUMNS + END]) {
            record(search, row);
            search->totals[row] = 2.0f * DEAD;
        }
        alive |= search->totals[row] > DEAD;
    }
    return alive && search->finished < search->batch->beam;
}

static void allocate(Search *search, int named) {
    const Batch *batch = search->batch;
    const Network *network = batch->network;
    const int64_t rows = batch->beam, size = size_of(network), actions = batch->vocabulary->size;
    const int64_t layers = network->layers.layers, steps = batch->most + 1;
    search->now = room_for_rows(search, named);
    search->spare = room_for_rows(search, named);
    int64_t **numbers[] = {&search->tokens, &search->spans, &search->chosen};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = room(search, rows, sizeof(int64_t));
    search->some = room(search, actions, sizeof(int64_t));
    for (int kind = 0; kind < KINDS; kind++)
        search->ranks[kind] = room(search, rows * search->setting.words, sizeof(int64_t));
    float **scores[] = {&search->totals, &search->best, &search->added};
    for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) *scores[i] = room(search, rows, sizeof(float));
    search->legal = room(search, rows * actions, sizeof(float));
    search->scores = room(search, rows * actions, size);
    search->sentence = room(search, rows, sizeof(int32_t));
    search->steps = room(search, steps, sizeof(Step));
    search->origins = room(search, steps, sizeof(int32_t *));
    search->origin_sizes = room(search, steps, sizeof(int64_t));
    search->memories = room(search, layers, sizeof(char *));
    search->caches = room(search, layers, sizeof(char **));
    search->cache_sizes = room(search, layers, sizeof(int64_t *));
    search->cache_rows = room(search, layers, sizeof(int32_t **)); /* all NULL: each row has its own cache */
    for (int64_t layer = 0; layer < layers && !search->no_memory; layer++) {
        search->caches[layer] = room(search, steps, sizeof(char *));
        search->cache_sizes[layer] = room(search, steps, sizeof(int64_t));
    }
}

/* Begin the search of a sentence. Return NULL, or a message about wrong arguments. */
static const char *begin(Search *search, const Batch *batch, int64_t sentence) {
    const Network *network = batch->network;
    const Found *found = &batch->found;
    const int64_t derivations = 2 * batch->beam * sentence, words = batch->initial.numbers[sentence].length + 1;
    *search = (Search){.batch = batch, .setting = *batch->setting, .length = network->lengths + sentence};
    if (OUTSIDE(words - 1, batch->setting->words)) return "numbers: beyond the words that there are";
    if (*search->length > words) return "lengths: beyond the words that there are";
    search->setting.words = words;
    search->found = (Found){found->count + sentence, found->steps + derivations,
                            found->actions + derivations * batch->most, found->added + derivations * batch->most};
    allocate(search, batch->initial.named != NULL);
    if (search->no_memory) return NO_MEMORY;
    const int64_t bytes = network->words * 2 * dim_of(network) * size_of(network);
    for (int64_t layer = 0; layer < network->layers.layers; layer++)
        search->memories[layer] = network->memories[layer] + sentence * bytes;
    copy_row(search, &batch->initial, sentence, &search->now, 0);
    search->tokens[0] = network->end;
    search->origin_sizes[0] = search->rows = 1;
    return NULL;
}

/* Take one step in each search. Return NULL, or a message about wrong arguments. */
static const char *take_step(const Batch *batch, const Together *together) {
    const Network *network = batch->network;
    const int64_t dim = dim_of(network), bytes = dim * size_of(network);
    int64_t rows = 0;
    for (int64_t i = 0; i < together->count; i++) {
        Search *search = together->searches + i;
        if (search->count == batch->most) return "most: a derivation has more actions";
        const char *problem = prepare(search, together->x + rows * bytes);
        if (problem) return problem;
        search->normed = together->normed + rows * bytes;
        together->groups[i] = group_of(search);
        rows += search->rows;
    }
    batch->parts->add_and_normalise((int)network->layers.half, rows, dim, together->x, together->zeros, network->norm,
                                    network->norm_bias, network->norm_epsilon, together->normed);
    const char *problem = batch->parts->decoder_layers(&network->layers, together->count, together->groups, together->x,
                                                       together->normed);
    for (Search *search = together->searches; search < together->searches + together->count && !problem; search++) {
        problem = score(search);
        if (!problem) problem = choose(search);
        if (!problem) problem = follow(search);
        search->count++;
    }
    return problem;
}

/* Search the sentences from `next` to before `end`. Return NULL, or a message about wrong arguments. */
static const char *run(const Batch *batch, int64_t next, int64_t end, Together *together) {
    while (next < end || together->count) {
        const char *problem = NULL;
        while (together->count < together->most && next < end && !problem)
            problem = begin(together->searches + together->count++, batch, next++);
        if (!problem) problem = take_step(batch, together);
        if (problem) return problem;
        for (int64_t i = together->count - 1; i >= 0; i--) {
            Search *search = together->searches + i;
            if (finish(search)) continue;
            *search->found.count = search->finished;
            release(search->blocks);
            *search = together->searches[--together->count];
            together->searches[together->count].blocks = NULL;
        }
    }
    return NULL;
}

/* The share of one thread: the sentences from `first` to before `end`. */
typedef struct {
    const Batch *batch;
    int64_t first, end;
    const char *problem;
} Work;

static void *worked(void *argument) {
    Work *work = argument;
    const Batch *batch = work->batch;
    const int64_t rows = batch->beam > ROWS_AT_ONCE ? batch->beam : ROWS_AT_ONCE;
    const int64_t bytes = rows * dim_of(batch->network) * size_of(batch->network);
    char *x = calloc(3, bytes);
    Together together = {.most = rows / batch->beam, .x = x, .normed = x + bytes, .zeros = x + 2 * bytes};
    together.searches = calloc(together.most, sizeof *together.searches);
    together.groups = malloc(together.most * sizeof *together.groups);
    work->problem = NO_MEMORY;
    if (x && together.searches && together.groups) work->problem = run(batch, work->first, work->end, &together);
    for (int64_t i = 0; together.searches && i < together.most; i++) release(together.searches[i].blocks);
    free(together.searches);
    free(together.groups);
    free(x);
    return NULL;
}

/* Find derivations of the AMR of each sentence by beam search, until `beam` of them are complete. Return NULL, or a
   message about wrong arguments.

   setting: the values that all rows share; if it is `labelled`, SHIFTs must name the word in front
   vocabulary: the actions
   threads: the number of threads that share the sentences
   sentences: the number B of sentences
   beam: the number of hypotheses that are kept; 1 is greedy search
   most: the largest number of actions of a derivation
   wide: the number of values of a context
   numbers, nodes, named, columns, context: (B); the rows before the first action, as for `take_amr_actions`
   count: (B); the result; the number of derivations that were found, at most 2 beam
   steps: (B, 2 beam); the result; the number of actions of each derivation
   actions, added: (B, 2 beam, most); the results; the actions and their log-probabilities */
const char *search_amrs(const Parts *parts, const Network *network, const Setting *setting,
                        const Vocabulary *vocabulary, int threads, int64_t sentences, int64_t beam, int64_t most,
                        int64_t wide, Row *numbers, Node *nodes, int64_t *named, uint8_t *columns, int64_t *context,
                        int64_t *count, int64_t *steps, int32_t *actions, float *added) {
    const Batch batch = {parts, network, setting, vocabulary, beam, most, wide,
                         {numbers, nodes, named, context, columns}, {count, steps, actions, added}};
    Work works[THREADS];
    if (OUTSIDE(network->end, vocabulary->size)) return "end: beyond the vocabulary";
    int shares = threads < THREADS ? threads : THREADS;
    if (shares > sentences) shares = (int)sentences;
    if (shares < 1) shares = 1;
    for (int i = 0; i < shares; i++)
        works[i] = (Work){&batch, sentences * i / shares, sentences * (i + 1) / shares, NULL};
    in_threads(worked, works, sizeof *works, shares);
    for (int i = 0; i < shares; i++)
        if (works[i].problem) return works[i].problem;
    return NULL;
}
