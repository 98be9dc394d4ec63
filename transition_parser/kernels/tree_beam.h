/* The hypotheses of a whole beam search over dependency trees; see `search_trees` in kernels.c. */

#include "tree_machine.h"

typedef struct {
    int half;
    int64_t sentences, positions, places, width, tokens, columns, beam, swaps_per_word;
    const float *words, *bias, *token_bias;
    const char *weight;
    const int64_t *ranks, *lengths, *column;
    const Effect *effects;
    const uint8_t *legal;
    Found found;
} Trees;

/* A hypothesis; `last` is its last action. */
typedef struct {
    int64_t *stack, *buffer, depth, buffer_size, swaps_left, situation;
    const Step *last;
    Named named;
    float total;
} TreeRow;

/* The hypotheses of one sentence.

   rows[now]: the `alive` hypotheses before the step; the other array gets the hypotheses after it
   taken: the `known` actions that were taken
   best: the `count` best continuations, best first */
typedef struct {
    void *memory;
    TreeRow *rows[2];
    Continued *best;
    Step *taken;
    int64_t now, alive, count, known;
} TreeBeam;

/* Scratch memory for the actions of one hypothesis. `hidden` has room for 2 width numbers. */
typedef struct {
    const char **weights;
    int64_t *tokens;
    float *logits, *hidden;
} TreeRoom;

enum { END_COLUMN = 1 }; /* `ActionClass.END` */

/* Allocate the memory of a beam. Return 1, or 0 without memory. */
static int new_beam(const Trees *in, TreeBeam *beam) {
    const int64_t positions = in->positions + 1, rows = 2 * in->beam;
    const size_t size = in->beam * in->found.most * sizeof(Step) + rows * sizeof(TreeRow) + in->beam * sizeof(Continued) +
                        rows * 2 * positions * sizeof(int64_t);
    char *memory = malloc(size);
    *beam = (TreeBeam){.memory = memory};
    if (!memory) return 0;
    int64_t *lists = (int64_t *)memory;
    beam->taken = (Step *)(lists + rows * 2 * positions);
    beam->rows[0] = (TreeRow *)(beam->taken + in->beam * in->found.most);
    beam->rows[1] = beam->rows[0] + in->beam;
    beam->best = (Continued *)(beam->rows[0] + rows);
    for (int64_t i = 0; i < rows; i++, lists += 2 * positions)
        beam->rows[0][i] = (TreeRow){.stack = lists, .buffer = lists + positions};
    return 1;
}

/* Set the beam to the one hypothesis before the first action. Return NULL, or a message about wrong arguments. */
static const char *first_row(const Trees *in, int64_t sentence, TreeBeam *beam) {
    const int64_t words = in->lengths[sentence];
    if (OUTSIDE(words, in->positions)) return "lengths: beyond the words that there are";
    TreeRow *row = beam->rows[0];
    beam->now = beam->known = 0;
    beam->alive = 1;
    in->found.counts[sentence] = 0;
    row->stack[0] = 0;
    for (int64_t i = 0; i <= words; i++) row->buffer[i] = words - i;
    row->depth = row->total = 0;
    row->buffer_size = words + 1;
    row->swaps_left = in->swaps_per_word * words;
    row->last = NULL;
    row->named = (Named){0, 0, row->buffer[words]};
    row->situation = situation_of(words, row->depth, row->buffer_size, &row->named, &row->swaps_left);
    return NULL;
}

/* Take the actions of the best continuations. Final hypotheses leave the beam. Once `in->beam` derivations are final,
   all hypotheses leave the beam. Return NULL, or a message about wrong arguments. */
static const char *next_rows(const Trees *in, int64_t sentence, int64_t step, TreeBeam *beam) {
    const int64_t width = in->positions + 1, words = in->lengths[sentence];
    const TreeRow *old = beam->rows[beam->now];
    TreeRow *new = beam->rows[1 - beam->now];
    for (int64_t i = 0; i < beam->count; i++) {
        const Continued *best = beam->best + i;
        const TreeRow *from = old + best->row;
        memcpy(new->stack, from->stack, from->depth * sizeof *new->stack);
        memcpy(new->buffer, from->buffer, from->buffer_size * sizeof *new->buffer);
        new->stack[0] = from->stack[0]; /* the entry that is read where there is no word */
        new->buffer[0] = from->buffer[0];
        Step *last = beam->taken + beam->known++;
        *last = (Step){from->last, (int32_t)best->token, best->added};
        const TreeRow copy = {new->stack, new->buffer, from->depth, from->buffer_size, from->swaps_left, 0,
                              last,       from->named, best->total};
        *new = copy;
        const Stack stack = {new->stack, &new->depth, width}, buffer = {new->buffer, &new->buffer_size, width};
        const char *problem = take_action(in->effects + in->column[best->token], stack, buffer, &new->named,
                                          &new->swaps_left, (Arcs){NULL, NULL}, 0);
        if (problem) return problem;
        new->situation = situation_of(words, new->depth, new->buffer_size, &new->named, &new->swaps_left);
        if (in->legal[new->situation * in->columns + END_COLUMN])
            write_derivation(&in->found, sentence * 2 * in->beam + in->found.counts[sentence]++, step + 1, new->last);
        else
            new++;
    }
    beam->now = 1 - beam->now;
    beam->alive = in->found.counts[sentence] >= in->beam ? 0 : new - beam->rows[beam->now];
    return NULL;
}
