/* What the machine of dependency systems does to its rows on CPUs, one pass each. R rows; numbers are int64. */

#include <stdint.h>
#include <string.h>

enum { NONE, S0, S1, B0, WORDS };

/* An action: words by their numbers above. As `_Effect` in machine.py. */
typedef struct {
    int64_t dependent, head, stack_pops, stack_push, buffer_pops, swaps, buffer_pushes[2];
} Effect;

static int64_t push(int64_t *array, int64_t size, const int64_t *words, int64_t source) {
    if (source == NONE) return size;
    array[size] = words[source];
    return size + 1;
}

static int64_t word(const int64_t *array, int64_t index) { return array[index < 0 ? 0 : index]; }

/* Takes each row's action, and reads what the next one depends on.

   action: (R), which of effects. relation: (R), of the arcs. root: (R). stack, buffer: (R, width), of which (R) depth and
   left count. heads, relations: (R, width), or NULL with relation. swaps_left: (R), or NULL. top, second, front: (R),
   S0, S1 and B0. All from stack on change in place. situation: (R), where the bits are the fields of `_Situation` in
   machine.py. */
void take_actions(int64_t rows, int64_t width, const int64_t *action, const int64_t *relation, const Effect *effects,
                  const int64_t *root, int64_t *stack, int64_t *depth, int64_t *buffer, int64_t *left, int64_t *heads,
                  int64_t *relations, int64_t *swaps_left, int64_t *top, int64_t *second, int64_t *front,
                  int64_t *situation) {
    for (int64_t row = 0; row < rows; row++, stack += width, buffer += width) {
        const Effect *effect = effects + action[row];
        const int64_t words[WORDS] = {[S0] = top[row], [S1] = second[row], [B0] = front[row]};
        if (heads && effect->dependent != NONE) {
            const int64_t arc = row * width + words[effect->dependent];
            heads[arc] = words[effect->head];
            relations[arc] = relation[row];
        }
        depth[row] = push(stack, depth[row] - effect->stack_pops, words, effect->stack_push);
        left[row] -= effect->buffer_pops;
        for (int i = 0; i < 2; i++) left[row] = push(buffer, left[row], words, effect->buffer_pushes[i]);
        top[row] = word(stack, depth[row] - 1);
        second[row] = word(stack, depth[row] - 2);
        front[row] = word(buffer, left[row] - 1);
        if (swaps_left) swaps_left[row] -= effect->swaps;
        situation[row] = (front[row] == root[row]) | (depth[row] > 0) << 1 | (depth[row] > 1) << 2 |
                         (left[row] > 0) << 3 | (top[row] == root[row]) << 4 | (top[row] < front[row]) << 5 |
                         (second[row] < top[row]) << 6 | (!swaps_left || swaps_left[row] > 0) << 7;
    }
}

/* ranks: (R, width), k for the k-th word from the end of the first size (R) in array (R, width + 1), 0 for others. */
void ranks_from_end(int64_t rows, int64_t width, const int64_t *array, const int64_t *size, int64_t *ranks) {
    memset(ranks, 0, sizeof *ranks * rows * width);
    for (int64_t row = 0; row < rows; row++, array += width + 1, ranks += width)
        for (int64_t i = 0; i < size[row]; i++) ranks[array[i]] = size[row] - i;
}
