/* How many gold arcs arc-standard has to give up because of the order in which words join the tree, on CPUs: see
   `oracles.dynamic`. Returns NULL, or what is wrong with the arguments: costs_kernels.py checks types and sizes, and this
   checks what it reads, before it reads by it. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define OUTSIDE(index, size) ((uint64_t)(index) >= (uint64_t)(size))

enum { NONE = -1, ROOT = -2, IMPOSSIBLE = -1000000 };

/* What joins the tree: words of the stack, the top first, then some of the buffer; for each its head among them. */
typedef struct {
    int32_t *heads, *table; /* table: a row for each number of words of the buffer, see `most_arcs` */
    int64_t *words, *item, *by_rank;
    bool *on_stack, *joined;
    int64_t of_stack, of_buffer;
} Items;

static const char *const BEYOND = "stack or heads: beyond the words that there are";

/* `to` becomes `from`, the most arcs of a tree with each item as its root, with one item more: a dependent of the root,
   or its head. better: only where that is more than what `to` has. */
static void join(const Items *items, const int32_t *from, int32_t *to, int64_t item, bool better) {
    int32_t most = IMPOSSIBLE;
    for (int64_t top = 0; top < items->of_stack + items->of_buffer; top++) {
        const int32_t below = from[top] + (items->heads[item] == top), above = from[top] + (items->heads[top] == item);
        if (most < above) most = above;
        if (!better || to[top] < below) to[top] = below;
    }
    if (!better || to[item] < most) to[item] = most;
}

/* How many of the arcs one tree over all items can have. */
static int32_t most_arcs(const Items *items) {
    const int64_t count = items->of_stack + items->of_buffer;
    int32_t most = IMPOSSIBLE;
    for (int64_t top = 0; top < count; top++) items->table[top] = top ? IMPOSSIBLE : 0;
    for (int64_t i = 0; i < items->of_buffer; i++)
        join(items, items->table + i * count, items->table + (i + 1) * count, items->of_stack + i, false);
    for (int64_t word = 1; word < items->of_stack; word++) {
        join(items, items->table, items->table, word, false);
        for (int64_t i = 1; i <= items->of_buffer; i++) {
            int32_t *row = items->table + i * count;
            join(items, row, row, word, false);
            join(items, row - count, row, items->of_stack + i - 1, true);
        }
    }
    for (int64_t top = 0; top < count; top++) {
        const int32_t arcs = items->table[items->of_buffer * count + top] + (items->heads[top] == ROOT);
        if (most < arcs) most = arcs;
    }
    return most;
}

/* Reads the items of a configuration. Returns NULL, or what is wrong. */
static const char *read_items(Items *items, int64_t width, const int64_t *stack, int64_t depth, const bool *buffer,
                              const int64_t *heads, int64_t root, const int64_t *rank) {
    for (int64_t word = 0; word < width; word++) {
        if (OUTSIDE(heads[word], width)) return BEYOND;
        if (rank && OUTSIDE(rank[word], width)) return "rank: beyond the words that there are";
        items->on_stack[word] = items->joined[word] = false;
        items->item[word] = items->by_rank[word] = NONE;
    }
    for (int64_t i = 0; i < depth; i++) {
        if (OUTSIDE(stack[i], width)) return BEYOND;
        items->on_stack[stack[i]] = true;
        if (buffer[heads[stack[i]]]) items->joined[heads[stack[i]]] = true;
    }
    for (int64_t word = 0; word < width; word++) {
        items->joined[word] |= buffer[word] && items->on_stack[heads[word]];
        if (items->joined[word]) items->by_rank[rank ? rank[word] : word] = word;
    }
    items->of_stack = depth;
    for (int64_t i = 0; i < depth; i++) items->words[i] = stack[depth - 1 - i];
    int64_t count = depth;
    for (int64_t place = 0; place < width; place++)
        if (items->by_rank[place] != NONE) items->words[count++] = items->by_rank[place];
    items->of_buffer = count - depth;
    for (int64_t i = 0; i < count; i++) items->item[items->words[i]] = i;
    for (int64_t i = 0; i < count; i++) {
        int64_t head = heads[items->words[i]], steps = 0;
        for (; buffer[head] && !items->joined[head]; head = heads[head])
            if (steps++ == width) return "heads: they form a circle";
        items->heads[i] = head == root ? ROOT : items->item[head];
    }
    return NULL;
}

/* rows configurations, width positions. stack: (rows, width), of which (rows) depth count. buffer: (rows, width), which
   words are in it. heads: (rows, width), the root's the root. root: (rows). rank: (rows, width), the order of the words,
   or NULL. given_up: (rows). */
const char *arcs_given_up(int64_t rows, int64_t width, const int64_t *stack, const int64_t *depth, const bool *buffer,
                          const int64_t *heads, const int64_t *root, const int64_t *rank, int64_t *given_up) {
    int64_t *numbers = malloc(sizeof *numbers * 4 * (width + 1));
    int32_t *table = malloc(sizeof *table * 2 * (width + 1) * (width + 2));
    bool *flags = malloc(sizeof *flags * 2 * (width + 1));
    const char *problem = numbers && table && flags ? NULL : "no memory";
    Items items = {.heads = table, .table = table ? table + 2 * width : NULL, .words = numbers, .on_stack = flags};
    if (!problem) {
        items.item = numbers + 2 * width;
        items.by_rank = numbers + 3 * width;
        items.joined = flags + width;
    }
    for (int64_t row = 0; row < rows && !problem; row++, stack += width, buffer += width, heads += width) {
        given_up[row] = 0;
        if (OUTSIDE(depth[row], width + 1)) problem = "depth: beyond the stack";
        else if (depth[row] > 1 && stack[depth[row] - 1] != root[row]) {
            problem = read_items(&items, width, stack, depth[row], buffer, heads, root[row], rank);
            if (!problem) {
                for (int64_t i = 0; i < items.of_stack + items.of_buffer; i++) given_up[row] += items.heads[i] != NONE;
                given_up[row] -= most_arcs(&items);
            }
        }
        if (rank) rank += width;
    }
    free(numbers);
    free(table);
    free(flags);
    return problem;
}
