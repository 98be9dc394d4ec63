/* The actions of the machine of dependency systems on CPUs, in one pass over the rows. All numbers are int64.

   Functions return NULL, or a message about wrong arguments. machine_kernels.py checks types and sizes. The functions
   here check each index before they use it. Dimension: R rows. */

#include <string.h>

#include "common.h"
#include "tree_machine.h"

/* Take each row's action, and compute the situation that the next action depends on. Return NULL, or a message about
   wrong arguments.

   All arrays from `stack` to `front` change in place, up to the first row with a problem.

   action: (R); the index of each action's effect
   relation: (R); the relations of the arcs; NULL where no arcs are stored
   effects: (columns); the effects
   root: (R); the position of the root
   stack: (R, width); the words of the stack, bottom first
   depth: (R); how many words of `stack` count
   buffer: (R, width); the words of the buffer, the front last
   buffer_size: (R); how many words of `buffer` count
   heads, relations: (R, width); the heads and relations of words; NULL where no arcs are stored
   swaps_left: (R); how many SWAPs may still be taken; NULL for no limit
   top, second, front: (R); the words S0, S1 and B0
   situation: (R); the result; its bits are the fields of `Situation` in transitions/spec.py */
const char *take_actions(int64_t rows, int64_t width, int64_t columns, const int64_t *action, const int64_t *relation,
                         const Effect *effects, const int64_t *root, int64_t *stack, int64_t *depth, int64_t *buffer,
                         int64_t *buffer_size, int64_t *heads, int64_t *relations, int64_t *swaps_left, int64_t *top,
                         int64_t *second, int64_t *front, int64_t *situation) {
    for (int64_t row = 0; row < rows; row++) {
        const Stack stacked = {stack + row * width, depth + row, width};
        const Stack buffered = {buffer + row * width, buffer_size + row, width};
        if (OUTSIDE(action[row], columns)) return "action: beyond the effects that there are";
        const Arcs arcs = {heads ? heads + row * width : NULL, relations ? relations + row * width : NULL};
        int64_t *swaps = swaps_left ? swaps_left + row : NULL;
        Named named = {top[row], second[row], front[row]};
        const char *problem = take_action(effects + action[row], stacked, buffered, &named, swaps, arcs,
                                          relation ? relation[row] : 0);
        if (problem) return problem;
        top[row] = named.top;
        second[row] = named.second;
        front[row] = named.front;
        situation[row] = situation_of(root[row], depth[row], buffer_size[row], &named, swaps);
    }
    return NULL;
}

/* Compute the ranks of words from the end of a list. Return NULL, or a message about wrong arguments.

   array: (R, width + 1); the lists of words
   size: (R); the length of each list
   ranks: (R, width); the result; k for the k-th word from the end, 0 for words that are not in the list */
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
