/* The costs of the actions of dependency systems on CPUs; `oracles.dynamic` explains the costs.

   `lost_arcs` returns NULL, or a message about wrong arguments. Python checks types and sizes. The functions
   here check each index before they use it. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { ARC_HYBRID, ARC_EAGER, ARC_STANDARD, SYSTEMS };
enum { NONE = -1, ROOT = -2, IMPOSSIBLE = -1000000 };

/* One configuration. All arrays have the length `width`.

   stack: the words of the stack, bottom first; the first `depth` count
   kept: scratch memory
   on_stack, in_buffer: true for words on the stack, and for words in the buffer
   free: true for words without a head
   heads: the gold heads
   rank: the places of words in projective order; NULL without SWAP */
typedef struct {
    int64_t width, root, depth, *stack, *kept;
    bool *on_stack, *in_buffer, *free;
    const int64_t *heads, *rank;
} Configuration;

/* The items that arc-standard joins into one tree: the words of the stack, the top first, and then the words of the
   buffer that have a gold arc with a word of the stack.

   of_stack, of_buffer: the numbers of items that come from the stack and from the buffer
   words: the word of each item
   item: the item of each word, or NONE
   by_rank: the joined word of the buffer at each place of the order, or NONE
   heads: for each item, the item that is its head, or ROOT, or NONE
   table: row i has for each item the most gold arcs of a tree with this root and the first i items of the buffer
   joined: true for the words of the buffer that are items */
typedef struct {
    int64_t of_stack, of_buffer, *words, *item, *by_rank;
    int32_t *heads, *table;
    bool *joined;
} Items;

static int32_t lost_in_buffer(const Configuration *c) {
    int32_t lost = 0;
    for (int64_t word = 0; word < c->root; word++) {
        const int64_t head = c->heads[word];
        lost += c->in_buffer[word] && head != c->root && !c->on_stack[head] && !c->in_buffer[head];
    }
    return lost;
}

static int32_t arc_hybrid(const Configuration *c) {
    int32_t lost = lost_in_buffer(c);
    int64_t below = c->root;
    for (int64_t i = 0; i < c->depth; below = c->stack[i++]) {
        const int64_t head = c->heads[c->stack[i]];
        lost += head != below && !c->in_buffer[head];
    }
    return lost;
}

static int32_t arc_eager(const Configuration *c) {
    int32_t lost = lost_in_buffer(c);
    int64_t second = c->width, last = c->root - 1, count = 0;
    for (int64_t i = 0; i < c->depth; i++) {
        const int64_t word = c->stack[i], head = c->heads[word];
        if (!c->free[word]) continue;
        lost += !c->in_buffer[head] && (head != c->root || count);
        if (count++ == 1) second = word;
    }
    if (!c->in_buffer[last]) return lost;
    for (int64_t steps = 0; c->in_buffer[last] && steps < c->width; steps++) last = c->heads[last];
    return lost + (c->on_stack[last] && last >= second);
}

/* Write into `to` the numbers of `from` after one more item has joined, as a dependent of the root or as its head.

   from, to: for each item, the largest number of gold arcs of a tree with this item as its root
   better: true to write only numbers that are larger than the numbers in `to` */
static void join(const Items *items, const int32_t *from, int32_t *to, int64_t item, bool better) {
    int32_t most = IMPOSSIBLE;
    for (int64_t top = 0; top < items->of_stack + items->of_buffer; top++) {
        const int32_t below = from[top] + (items->heads[item] == top), above = from[top] + (items->heads[top] == item);
        if (most < above) most = above;
        if (!better || to[top] < below) to[top] = below;
    }
    if (!better || to[item] < most) to[item] = most;
}

/* Return the largest number of gold arcs that one tree over all items can have. */
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

/* Read the items of a configuration. Return the number of gold arcs among the items and the root. */
static int32_t read_items(Items *items, const Configuration *c) {
    for (int64_t word = 0; word < c->width; word++) {
        items->joined[word] = c->in_buffer[word] && c->on_stack[c->heads[word]];
        items->item[word] = items->by_rank[word] = NONE;
    }
    for (int64_t i = 0; i < c->depth; i++) {
        items->words[i] = c->stack[c->depth - 1 - i];
        if (c->in_buffer[c->heads[c->stack[i]]]) items->joined[c->heads[c->stack[i]]] = true;
    }
    for (int64_t word = 0; word < c->width; word++)
        if (items->joined[word]) items->by_rank[c->rank ? c->rank[word] : word] = word;
    int64_t count = items->of_stack = c->depth, arcs = 0;
    for (int64_t place = 0; place < c->width; place++)
        if (items->by_rank[place] != NONE) items->words[count++] = items->by_rank[place];
    items->of_buffer = count - items->of_stack;
    for (int64_t i = 0; i < count; i++) items->item[items->words[i]] = i;
    for (int64_t i = 0; i < count; i++) {
        int64_t head = c->heads[items->words[i]];
        for (int64_t steps = 0; c->in_buffer[head] && !items->joined[head] && steps < c->width; steps++)
            head = c->heads[head];
        items->heads[i] = head == c->root ? ROOT : items->item[head];
        arcs += items->heads[i] != NONE;
    }
    return arcs;
}

static int32_t arc_standard(const Configuration *c, Items *items) {
    int32_t lost = lost_in_buffer(c);
    for (int64_t i = 0; i < c->depth; i++) {
        const int64_t head = c->heads[c->stack[i]];
        lost += head != c->root && !c->on_stack[head] && !c->in_buffer[head];
    }
    if (c->depth < 2 || c->on_stack[c->root]) return lost;
    lost += read_items(items, c);
    return lost - most_arcs(items);
}

/* Change a configuration into the configuration after all pending swaps.

   joins_on_stack: true where arcs join the two words on top of the stack, as in arc-standard, so that the first word of
       the buffer, in projective order, has to be shifted before the top of the stack can move */
static void swap(Configuration *c, bool joins_on_stack) {
    int64_t first = c->root, kept = 0;
    for (int64_t word = 0; word < c->root; word++)
        if (c->in_buffer[word] && c->rank[word] < c->rank[first]) first = word;
    const int64_t depth = c->depth;
    const bool moves = joins_on_stack && depth && c->rank[c->stack[depth - 1]] > c->rank[first];
    for (int64_t i = depth, ahead = first; i--;) {
        const int64_t word = c->stack[i];
        if (c->rank[word] <= c->rank[ahead]) c->kept[kept++] = ahead = word;
        else c->in_buffer[word] = true;
    }
    for (int64_t i = 0; i < kept; i++) c->stack[i] = c->kept[kept - 1 - i];
    c->depth = kept;
    if (moves && first != c->root) {
        c->stack[c->depth++] = first;
        c->in_buffer[first] = false;
    }
}

/* The configuration of one row as the machine stores it. */
typedef struct {
    const int64_t *stack, *buffer, *arcs, *words;
    int64_t depth, buffer_size;
} Row;

/* Compute the configuration after an action. */
static void follow(Configuration *c, const Row *row, const Effect *effect) {
    memcpy(c->stack, row->stack, sizeof *c->stack * c->width);
    memset(c->in_buffer, false, c->width);
    for (int64_t i = 0; i < row->buffer_size; i++) c->in_buffer[row->buffer[i]] = true;
    for (int64_t word = 0; word < c->width; word++) c->free[word] = !row->arcs || row->arcs[word] == NONE;
    c->depth = row->depth < effect->stack_pops ? 0 : row->depth - effect->stack_pops;
    if (effect->stack_push != NO_WORD && c->depth < c->width) c->stack[c->depth++] = row->words[effect->stack_push];
    if (effect->buffer_pops) c->in_buffer[row->words[B0]] = false;
    if (effect->dependent != NO_WORD) c->free[row->words[effect->dependent]] = false;
    c->in_buffer[c->root] = false;
}

static int32_t loss(int64_t system, Configuration *c, Items *items) {
    if (c->rank) swap(c, system == ARC_STANDARD);
    memset(c->on_stack, false, c->width);
    for (int64_t i = 0; i < c->depth; i++) c->on_stack[c->stack[i]] = true;
    return system == ARC_HYBRID ? arc_hybrid(c) : system == ARC_EAGER ? arc_eager(c) : arc_standard(c, items);
}

static bool all_words(const int64_t *numbers, int64_t count, int64_t width) {
    for (int64_t i = 0; i < count; i++)
        if (OUTSIDE(numbers[i], width)) return false;
    return true;
}

static const char *wrong_row(const Row *row, const Configuration *c) {
    if (OUTSIDE(row->depth, c->width + 1) || OUTSIDE(row->buffer_size, c->width + 1))
        return "depth or buffer_size: beyond the width";
    if (OUTSIDE(c->root - 1, c->width - 1)) return "root: not behind a word";
    const bool known = all_words(row->stack, row->depth, c->width) &&
                       all_words(row->buffer, row->buffer_size, c->width) &&
                       all_words(row->words, WORDS, c->width) && all_words(c->heads, c->width, c->width) &&
                       (!c->rank || all_words(c->rank, c->width, c->width));
    return known ? NULL : "stack, buffer, words, heads or rank: beyond the words that there are";
}

static const char *wrong_effect(const Effect *effect) {
    const bool known = !OUTSIDE(effect->dependent, WORDS) && !OUTSIDE(effect->head, WORDS) &&
                       !OUTSIDE(effect->stack_push, WORDS) && effect->stack_pops >= 0;
    return known ? NULL : "effects: a word has no such number";
}

/* Compute how many gold arcs each action loses in each row. Return NULL, or a message about wrong arguments.

   system: the number of the system in the enum above
   effects: (actions); the effects of the actions; the first action must do nothing
   root: (rows); the position of the root
   stack: (rows, width); the words of the stack, bottom first
   depth: (rows); the number of words on the stack
   buffer: (rows, width); the words of the buffer, the front last
   buffer_size: (rows); the number of words in the buffer
   arcs: (rows, width); the heads of words so far; NULL where no word on a stack has a head
   words: (rows, WORDS); the root, S0, S1 and B0
   heads: (rows, width); the gold heads; the head of the root is the root
   rank: (rows, width); the places of words in projective order; NULL without SWAP
   lost: (actions, rows); the result */
const char *lost_arcs(int64_t rows, int64_t width, int64_t system, int64_t actions, const Effect *effects,
                      const int64_t *root, const int64_t *stack, const int64_t *depth, const int64_t *buffer,
                      const int64_t *buffer_size, const int64_t *arcs, const int64_t *words, const int64_t *heads,
                      const int64_t *rank, int64_t *lost) {
    if (OUTSIDE(system, SYSTEMS)) return "system: there is none of this number";
    for (int64_t action = 0; action < actions; action++)
        if (wrong_effect(effects + action)) return wrong_effect(effects + action);
    int64_t *numbers = malloc(sizeof *numbers * 6 * (width + 1));
    int32_t *table = malloc(sizeof *table * 2 * (width + 1) * (width + 2));
    bool *flags = malloc(sizeof *flags * 4 * (width + 1));
    const char *problem = numbers && table && flags ? NULL : "no memory";
    if (!problem) {
        Configuration c = {.width = width, .stack = numbers, .kept = numbers + width, .on_stack = flags,
                           .in_buffer = flags + width, .free = flags + 2 * width};
        Items items = {.words = numbers + 2 * width, .item = numbers + 4 * width, .by_rank = numbers + 5 * width,
                       .heads = table, .table = table + 2 * width, .joined = flags + 3 * width};
        for (int64_t i = 0; i < rows && !problem; i++) {
            const Row row = {stack + i * width, buffer + i * width, arcs ? arcs + i * width : NULL, words + i * WORDS,
                             depth[i], buffer_size[i]};
            c.root = root[i];
            c.heads = heads + i * width;
            c.rank = rank ? rank + i * width : NULL;
            problem = wrong_row(&row, &c);
            for (int64_t action = 0; action < actions && !problem; action++) {
                const Effect *effect = effects + action;
                follow(&c, &row, effect);
                const int64_t wrong = effect->dependent != NO_WORD &&
                                      c.heads[row.words[effect->dependent]] != row.words[effect->head];
                lost[action * rows + i] = loss(system, &c, &items) + wrong - (action ? lost[i] : 0);
            }
            if (!problem) lost[i] = 0;
        }
    }
    free(numbers);
    free(table);
    free(flags);
    return problem;
}
