/* The legality of actions on CPUs, as in states/device_table.py. All numbers are int64.

   Functions return NULL, or a message about wrong arguments. legality_kernels.py checks types and sizes. The functions
   here check each index before they use it. Dimension: R rows. */

#include <stdlib.h>
#include <string.h>

#include "legality.h"

enum { UNBOUND }; /* the lexicon row that does not limit the tokens */

/* The legal columns and the context of one row.

   columns: (columns); 1 for legal columns
   context: NULL, or the shift id of the word in front (below 0 for the root), the lexicon row, and in search the roles
       of the node on top and of the second node, their sorts, and the tokens no longer legal (below 0 for none)
   listed, listed_end: the begin and the end of the tokens of the lexicon row
   gone: (more); the tokens that are no longer legal
   top, second: the roles of the node on top and of the second node, as bits
   top_sort, second_sort: their sorts, as bits
   unbound: 1 where the lexicon does not limit the tokens */
typedef struct {
    const uint8_t *columns;
    const int64_t *context, *listed, *listed_end, *gone;
    int64_t top, second, top_sort, second_sort, more;
    int unbound;
} Row;

static const char *read_row(Row *row, const uint8_t *columns, const int64_t *context, int64_t wide,
                            const Vocabulary *all) {
    *row = (Row){.columns = columns, .context = context, .unbound = 1};
    if (wide >= 6) {
        row->top = context[2];
        row->second = context[3];
        row->top_sort = context[4];
        row->second_sort = context[5];
        row->gone = context + 6;
        row->more = wide - 6;
    }
    for (int64_t i = 0; i < row->more; i++)
        if (row->gone[i] >= all->size) return "context: beyond the vocabulary";
    if (!all->limited) return NULL;
    if (OUTSIDE(context[1], all->rows)) return "context: beyond the lexicon";
    const int64_t begin = all->offsets[context[1]], end = all->offsets[context[1] + 1];
    if (begin < 0 || begin > end || end > all->entries) return "offsets: beyond the lexicon";
    row->unbound = context[1] == UNBOUND;
    row->listed = all->tokens + begin;
    row->listed_end = all->tokens + end;
    for (const int64_t *token = row->listed; token < row->listed_end; token++)
        if (OUTSIDE(*token, all->size)) return "lexicon: beyond the vocabulary";
    return NULL;
}

static const char *problem_of(const Vocabulary *all) {
    for (int64_t token = 0; token < all->size; token++)
        if (OUTSIDE(all->column[token], all->columns)) return "column: there is no such column";
    return NULL;
}

/* Find all tokens that are legal in at least one row. Return NULL, or a message about wrong arguments.

   Illegal tokens may be found, too, because neither the words of SHIFTs nor the tokens that are no longer legal are
   compared.

   columns: (R, columns); 1 for legal columns
   context: (R, wide), or NULL
   found: (size); the result; the first `count` entries are written, in the order of tokens
   count: the number of tokens that were found */
const char *legal_anywhere(int64_t rows, const Vocabulary *all, int64_t wide, const uint8_t *columns,
                           const int64_t *context, int64_t *found, int64_t *count) {
    const char *problem = problem_of(all);
    if (problem) return problem;
    uint8_t *open = calloc(2 * all->columns + all->size, 1), *unbound = open + all->columns;
    uint8_t *listed = unbound + all->columns;
    if (!open) return "no memory for legality";
    for (int64_t r = 0; r < rows && !problem; r++, columns += all->columns) {
        Row row;
        problem = read_row(&row, columns, context ? context + r * wide : NULL, wide, all);
        if (problem) break;
        for (int64_t i = 0; i < all->columns; i++) {
            open[i] |= columns[i];
            unbound[i] |= columns[i] && row.unbound;
        }
        for (const int64_t *token = row.listed; token < row.listed_end; token++)
            listed[*token] |= columns[all->column[*token]];
    }
    *count = 0;
    for (int64_t token = 0; token < all->size && !problem; token++) {
        const int64_t column = all->column[token];
        const int limited = all->limited && all->limited[token];
        if (limited ? unbound[column] || listed[token] : open[column]) found[(*count)++] = token;
    }
    free(open);
    return problem;
}

/* The given tokens in groups: first a group for each column, of the tokens that the lexicon does not limit, and then a
   group for each column, of the tokens that the lexicon limits.

   count: the number of given tokens
   bearers: the length of `bearing`
   tokens: (count); the given tokens; NULL for all tokens
   begin: (2 × columns + 1); the index in `order` at which each group begins, and the end of the last group
   order: (count); the indices of the given tokens, group by group
   place: (size); the index of each token among the given tokens, or -1
   bearing: (bearers); the indices of the given tokens that roles or sorts of nodes may forbid */
typedef struct {
    int64_t count, bearers;
    const int64_t *tokens;
    int64_t *begin;
    int32_t *order, *place, *bearing;
} Groups;

static int64_t token_at(const Groups *groups, int64_t place) { return groups->tokens ? groups->tokens[place] : place; }

static int64_t group_of(int64_t token, const Vocabulary *all) {
    return all->column[token] + (all->limited && all->limited[token] ? all->columns : 0);
}

static const char *sort(Groups *groups, const Vocabulary *all) {
    int64_t *begin = groups->begin;
    memset(groups->place, -1, sizeof *groups->place * all->size);
    for (int64_t i = 0; i < groups->count; i++) {
        const int64_t token = token_at(groups, i);
        if (OUTSIDE(token, all->size)) return "tokens: beyond the vocabulary";
        groups->place[token] = (int32_t)i;
        begin[group_of(token, all)]++;
        if (all->top_roles[token] | all->second_roles[token] | all->top_sorts[token] | all->second_sorts[token])
            groups->bearing[groups->bearers++] = (int32_t)i;
    }
    for (int64_t i = 0; i < 2 * all->columns; i++) begin[i + 1] += begin[i]; /* now the end of each group */
    for (int64_t i = groups->count - 1; i >= 0; i--)
        groups->order[--begin[group_of(token_at(groups, i), all)]] = (int32_t)i;
    return NULL;
}

/* Return 1 if the roles or the sorts of the two nodes on top forbid the token. */
static int is_forbidden(const Row *row, int64_t token, const Vocabulary *all) {
    return ((row->top & all->top_roles[token]) | (row->second & all->second_roles[token]) |
            (row->top_sort & all->top_sorts[token]) | (row->second_sort & all->second_sorts[token])) != 0;
}

/* Return 1 if a token may be taken in view of the word in front. Tokens other than SHIFT always may.

   word: the shift id of the token, below 0 for tokens other than SHIFT
   compare: 1 if a SHIFT must name the word in front, 0 if it may name any word where a word is in front */
static int names_front(const Row *row, int64_t word, int compare) {
    if (word < 0 || !row->context) return 1;
    const int64_t front = row->context[0];
    return compare ? word == (front < 0 ? 0 : front) : word == 0 || front >= 0;
}

static void write(float *legal, const Row *row, const Groups *groups, const Vocabulary *all, int compare) {
    for (int64_t i = 0; i < all->columns * (row->unbound ? 2 : 1); i++) {
        if (!row->columns[i < all->columns ? i : i - all->columns]) continue;
        for (int64_t at = groups->begin[i]; at < groups->begin[i + 1]; at++) {
            const int64_t word = all->shift_word[token_at(groups, groups->order[at])];
            legal[groups->order[at]] = names_front(row, word, compare);
        }
    }
    for (const int64_t *token = row->listed; token < row->listed_end && !row->unbound; token++)
        if (groups->place[*token] >= 0) legal[groups->place[*token]] = row->columns[all->column[*token]];
    for (int64_t i = 0; i < groups->bearers && (row->top | row->second | row->top_sort | row->second_sort); i++) {
        float *here = legal + groups->bearing[i];
        if (*here > 0.0f && is_forbidden(row, token_at(groups, groups->bearing[i]), all)) *here = -1.0f;
    }
    for (int64_t i = 0; i < row->more; i++) {
        const int64_t token = row->gone[i];
        if (token >= 0 && groups->place[token] >= 0) legal[groups->place[token]] = 0.0f;
    }
}

/* Compute the legality of tokens in each row. Return NULL, or a message about wrong arguments.

   columns: (R, columns); 1 for legal columns
   context: (R, wide), or NULL
   compare: 1 to make SHIFTs illegal unless they name the word in front; 0 to make labelled SHIFTs illegal only where
       the root is in front
   tokens: (count); all different; NULL for all tokens
   legal: (R, count); the result; 1 for legal tokens, 0 for illegal tokens, and -1 for legal tokens that would give a
       node a role that it already has, or that the sorts of nodes forbid */
const char *legality(int64_t rows, const Vocabulary *all, int64_t wide, const uint8_t *columns, const int64_t *context,
                     int64_t compare, int64_t count, const int64_t *tokens, float *legal) {
    const char *problem = problem_of(all);
    if (problem) return problem;
    const int64_t groups_size = 2 * all->columns + 1;
    int64_t *room = calloc(sizeof *room * groups_size + sizeof(int32_t) * (2 * count + all->size), 1);
    if (!room) return "no memory for legality";
    int32_t *order = (int32_t *)(room + groups_size);
    Groups groups = {count, 0, tokens, room, order, order + count, order + count + all->size};
    problem = sort(&groups, all);
    memset(legal, 0, sizeof *legal * rows * count);
    for (int64_t r = 0; r < rows && !problem; r++, columns += all->columns, legal += count) {
        Row row;
        problem = read_row(&row, columns, context && wide ? context + r * wide : NULL, wide, all);
        if (!problem) write(legal, &row, &groups, all, compare);
    }
    free(room);
    return problem;
}
