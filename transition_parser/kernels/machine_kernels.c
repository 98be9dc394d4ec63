/* The actions of the machine of dependency systems on CPUs, in one pass over the rows. All numbers are int64.

   Functions return NULL, or a message about wrong arguments. machine_kernels.py checks types and sizes. The functions
   here check each index before they use it. Dimension: R rows. */

#include <string.h>

#include "common.h"
#include "tree_machine.h"
#include "tree_oracle.h"

/* Take each row's action, and compute the situation that the next action depends on. Return NULL, or a message about
   wrong arguments.

   All arrays from `stack` to `front` change in place, up to the first row with a problem.

   action: (R); the index of each action's effect
   relation: (R); the relations of the arcs; NULL where no arcs are stored
   effects: (columns); the effects
   root: (R); the position of the root
   stack: (R, width); the words of the stack, bottom first
   depth: (R); the number of words on the stack
   buffer: (R, width); the words of the buffer, the front last
   buffer_size: (R); the number of words in the buffer
   heads, relations: (R, width); the heads and relations of words; NULL where no arcs are stored
   swaps_left: (R); how many SWAPs may still be taken; NULL for no limit
   top, second, front: (R); the words S0, S1 and B0
   situation: (R); the result; its bits are the fields of `Situation` in transitions/tree_system.py */
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

/* Take all actions of a derivation, and for each word add up the log-probabilities of the actions that decided its
   head. Return NULL, or a message about wrong arguments.

   token: (steps); the tokens of the actions
   log_prob: (steps); their log-probabilities
   column, relation: (tokens); the index of each token's effect, and the relation of its arc
   effects: (columns); the effects
   attach: (256); the words whose heads the next action decides in each situation: bits 1 to 3 for S0, S1 and B0
   room: (2, words + 2); memory for stack and buffer
   built: (2, words + 1); the results, heads and their relations; −1 and 0 for words without a head and for the root
   sums: (words + 1); the results; the sum for each word */
const char *replay_derivation(int64_t steps, int64_t words, int64_t tokens, int64_t columns, const int64_t *token,
                              const double *log_prob, const int64_t *column, const int64_t *relation,
                              const Effect *effects, const int64_t *attach, int64_t *room, int64_t *built,
                              double *sums) {
    const int64_t width = words + 2;
    int64_t *const heads = built, *const relations = built + words + 1;
    int64_t depth = 0, buffer_size = words + 1;
    const Stack stacked = {room, &depth, width}, buffered = {room + width, &buffer_size, width};
    for (int64_t i = 0; i < width; i++) {
        stacked.words[i] = 0;
        buffered.words[i] = i <= words ? words - i : 0;
    }
    for (int64_t i = 0; i <= words; i++) {
        heads[i] = -1;
        relations[i] = 0;
        sums[i] = 0.0;
    }
    Named named = {word(stacked, 1), word(stacked, 2), word(buffered, 1)};
    for (int64_t step = 0; step < steps; step++) {
        if (OUTSIDE(token[step], tokens)) return "token: beyond the tokens that there are";
        if (OUTSIDE(column[token[step]], columns)) return "column: beyond the effects that there are";
        const int64_t decided = attach[situation_of(words, depth, buffer_size, &named, NULL)];
        const int64_t names[WORDS] = {[S0] = named.top, [S1] = named.second, [B0] = named.front};
        for (int name = S0; name < WORDS; name++)
            if (decided >> name & 1) sums[names[name]] += log_prob[step];
        const char *problem = take_action(effects + column[token[step]], stacked, buffered, &named, NULL,
                                          (Arcs){heads, relations}, relation[token[step]]);
        if (problem) return problem;
    }
    return NULL;
}

static const char *const NO_TREE = "head: no tree with a single root";

/* Find the derivation of a tree in arc-hybrid with SWAP. Return NULL, or a message about wrong arguments.

   head: (words); the position of each word's head; the root has the position `words`
   room: (TREE_ROOMS, words + 1); memory
   most: the number of steps that there is room for
   kind, word: (most); the results; the kind of each step (`StepKind`), and the word that it moves or attaches
   count: the result; the number of steps */
const char *derive_tree(int64_t words, const int64_t *head, int64_t *room, int64_t most, int64_t *kind, int64_t *word,
                        int64_t *count) {
    if (most < words * (words + 1)) return "kind: too small for the steps that there may be";
    int64_t roots = 0;
    for (int64_t i = 0; i < words; i++) {
        if (OUTSIDE(head[i], words + 1)) return "head: beyond the words that there are";
        roots += head[i] == words;
    }
    int64_t *rows[TREE_ROOMS];
    for (int i = 0; i < TREE_ROOMS; i++) rows[i] = room + i * (words + 1);
    const OracleTree tree = {words, head, rows[0], rows[1], rows[2]};
    if (roots != 1 || rank_words(tree, rows[3], rows[4], rows[5]) != words) return NO_TREE;
    count_missing(tree);
    find_components(tree, rows[3], rows[4]);
    count_missing(tree);
    *count = write_steps(tree, rows[3], rows[4], kind, word);
    return *count < 0 ? NO_TREE : NULL;
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
