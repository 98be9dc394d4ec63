/* The machine of dependency systems for one row; see tree_replay.c. All numbers are int64. */

/* The words of the stack or of the buffer of one row. The last word is the top of the stack or the front of the
   buffer. */
typedef struct {
    int64_t *words, *size, width;
} Stack;

static const char *const BEYOND = "an action goes beyond the stack or the buffer";

/* Pop `pops` words, and push `count` words. Return NULL, or a message about wrong arguments. */
static const char *change(Stack list, int64_t pops, const int64_t *pushes, int count, const int64_t *words) {
    if (OUTSIDE(*list.size, list.width + 1) || OUTSIDE(pops, *list.size + 1)) return BEYOND;
    *list.size -= pops;
    for (int i = 0; i < count; i++) {
        if (OUTSIDE(pushes[i], WORDS)) return "effects: a word has no such number";
        if (pushes[i] == NO_WORD) continue;
        if (*list.size == list.width) return BEYOND;
        list.words[(*list.size)++] = words[pushes[i]];
    }
    return NULL;
}

/* Return the word with the given rank from the end. Where there are fewer words, return the first entry, which stands
   for no word. */
static int64_t word(Stack list, int64_t from_end) {
    return list.words[*list.size < from_end ? 0 : *list.size - from_end];
}

/* The words that a row's next action may name. */
typedef struct {
    int64_t top, second, front;
} Named;

/* The arcs of one row: the head and the relation of each word. `heads` is NULL where no arcs are stored. */
typedef struct {
    int64_t *heads, *relations;
} Arcs;

/* Take the action of one row. Return NULL, or a message about wrong arguments.

   named: the words before the action; changed to those after it
   swaps_left: how many SWAPs may still be taken; NULL for no limit; changed in place
   relation: the relation of the arc that the action builds, for `arcs` */
static const char *take_action(const Effect *effect, Stack stacked, Stack buffered, Named *named, int64_t *swaps_left,
                               Arcs arcs, int64_t relation) {
    const int64_t words[WORDS] = {[S0] = named->top, [S1] = named->second, [B0] = named->front};
    if (OUTSIDE(effect->dependent, WORDS) || OUTSIDE(effect->head, WORDS)) return "effects: a word has no such number";
    if (arcs.heads && effect->dependent != NO_WORD) {
        const int64_t dependent = words[effect->dependent];
        if (OUTSIDE(dependent, stacked.width)) return "top, second or front: beyond the words that there are";
        arcs.heads[dependent] = words[effect->head];
        arcs.relations[dependent] = relation;
    }
    const char *problem = change(stacked, effect->stack_pops, &effect->stack_push, 1, words);
    if (!problem) problem = change(buffered, effect->buffer_pops, effect->buffer_pushes, 2, words);
    if (problem) return problem;
    *named = (Named){word(stacked, 1), word(stacked, 2), word(buffered, 1)};
    if (swaps_left) *swaps_left -= effect->swaps;
    return NULL;
}

/* Return the facts of a row as bits (`Fact` in transitions/tree_system.py). */
static int64_t situation_of(int64_t root, int64_t depth, int64_t buffer_size, const Named *named,
                            const int64_t *swaps_left) {
    return (named->front == root) | (depth > 0) << 1 | (depth > 1) << 2 | (buffer_size > 0) << 3 |
           (named->top == root) << 4 | (named->top < named->front) << 5 | (named->second < named->top) << 6 |
           (!swaps_left || *swaps_left > 0) << 7;
}
