/* What the machine of dependency systems does to its rows on CPUs, one pass each. R rows; numbers are int64. Functions
   return NULL, or what is wrong with their arguments: machine_kernels.py checks types and sizes, and these check what
   they read, before they read by it. */

#include <stdint.h>
#include <string.h>

#define OUTSIDE(index, size) ((uint64_t)(index) >= (uint64_t)(size))

enum { NONE, S0, S1, B0, WORDS };

/* An action: words by their numbers above. As `_Effect` in machine.py. */
typedef struct {
    int64_t dependent, head, stack_pops, stack_push, buffer_pops, swaps, buffer_pushes[2];
} Effect;

/* Words on the stack or in the buffer of one row: the last is on top, or at the front. */
typedef struct {
    int64_t *words, *size, width;
} Pile;

static const char *const BEYOND = "an action goes beyond the stack or the buffer";

/* Pops and pushes. Returns NULL, or what is wrong. */
static const char *change(Pile pile, int64_t pops, const int64_t *pushes, int count, const int64_t *words) {
    if (OUTSIDE(*pile.size, pile.width + 1) || OUTSIDE(pops, *pile.size + 1)) return BEYOND;
    *pile.size -= pops;
    for (int i = 0; i < count; i++) {
        if (OUTSIDE(pushes[i], WORDS)) return "effects: a word has no such number";
        if (pushes[i] == NONE) continue;
        if (*pile.size == pile.width) return BEYOND;
        pile.words[(*pile.size)++] = words[pushes[i]];
    }
    return NULL;
}

/* The word so many from the end; the first, which does not count, where there are fewer. */
static int64_t word(Pile pile, int64_t from_end) {
    return pile.words[*pile.size < from_end ? 0 : *pile.size - from_end];
}

/* Takes each row's action, and reads what the next one depends on.

   action: (R), which of `columns` effects. relation: (R), of the arcs. root: (R). stack, buffer: (R, width), of which
   (R) depth and left count. heads, relations: (R, width), or NULL with relation. swaps_left: (R), or NULL. top, second,
   front: (R), S0, S1 and B0. All from stack on change in place, as far as the first row with a problem. situation: (R),
   where the bits are the fields of `_Situation` in machine.py. */
const char *take_actions(int64_t rows, int64_t width, int64_t columns, const int64_t *action, const int64_t *relation,
                         const Effect *effects, const int64_t *root, int64_t *stack, int64_t *depth, int64_t *buffer,
                         int64_t *left, int64_t *heads, int64_t *relations, int64_t *swaps_left, int64_t *top,
                         int64_t *second, int64_t *front, int64_t *situation) {
    for (int64_t row = 0; row < rows; row++) {
        const Pile stacked = {stack + row * width, depth + row, width}, buffered = {buffer + row * width, left + row, width};
        if (OUTSIDE(action[row], columns)) return "action: beyond the effects that there are";
        const Effect *effect = effects + action[row];
        const int64_t words[WORDS] = {[S0] = top[row], [S1] = second[row], [B0] = front[row]};
        if (OUTSIDE(effect->dependent, WORDS) || OUTSIDE(effect->head, WORDS)) return "effects: a word has no such number";
        if (heads && effect->dependent != NONE) {
            const int64_t dependent = words[effect->dependent];
            if (OUTSIDE(dependent, width)) return "top, second or front: beyond the words that there are";
            heads[row * width + dependent] = words[effect->head];
            relations[row * width + dependent] = relation[row];
        }
        const char *problem = change(stacked, effect->stack_pops, &effect->stack_push, 1, words);
        if (!problem) problem = change(buffered, effect->buffer_pops, effect->buffer_pushes, 2, words);
        if (problem) return problem;
        top[row] = word(stacked, 1);
        second[row] = word(stacked, 2);
        front[row] = word(buffered, 1);
        if (swaps_left) swaps_left[row] -= effect->swaps;
        situation[row] = (front[row] == root[row]) | (depth[row] > 0) << 1 | (depth[row] > 1) << 2 |
                         (left[row] > 0) << 3 | (top[row] == root[row]) << 4 | (top[row] < front[row]) << 5 |
                         (second[row] < top[row]) << 6 | (!swaps_left || swaps_left[row] > 0) << 7;
    }
    return NULL;
}

/* ranks: (R, width), k for the k-th word from the end of the first size (R) in array (R, width + 1), 0 for others. */
const char *ranks_from_end(int64_t rows, int64_t width, const int64_t *array, const int64_t *size, int64_t *ranks) {
    memset(ranks, 0, sizeof *ranks * rows * width);
    for (int64_t row = 0; row < rows; row++, array += width + 1, ranks += width) {
        if (OUTSIDE(size[row], width + 2)) return "size: beyond the array";
        for (int64_t i = 0; i < size[row]; i++) {
            if (OUTSIDE(array[i], width)) return "array: beyond the words that there are";
            ranks[array[i]] = size[row] - i;
        }
    }
    return NULL;
}
