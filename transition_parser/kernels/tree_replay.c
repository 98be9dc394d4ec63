/* The replay of derivations of dependency trees on CPUs. All numbers are int64.

   Python checks types and sizes of arguments. The function here checks each index before it uses it. */

#include <string.h>

#include "common.h"
#include "tree_machine.h"

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
