/* Which actions are legal, on CPUs: as device_table.py. R rows; numbers are int64. Functions return NULL, or what is wrong
   with their arguments: legality_kernels.py checks types and sizes, and these check what they read, before they read by
   it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OUTSIDE(index, size) ((uint64_t)(index) >= (uint64_t)(size))

enum { UNBOUND }; /* the row of the lexicon that does not bind */

/* The action vocabulary. column: (size), which of `columns` a token is of. shift_word: (size), the word that a SHIFT is
   for, below 0 for other tokens. top_roles, second_roles: (size), the roles that a token gives the two nodes on top, as
   bits. limited: (size), whether the lexicon limits the token; row r of it has
   tokens[offsets[r]] up to tokens[offsets[r + 1]], of `entries`. These are NULL without lexicon. */
typedef struct {
    int64_t size, columns, rows, entries;
    const int64_t *column, *shift_word, *top_roles, *second_roles, *offsets, *tokens;
    const uint8_t *limited;
} Vocabulary;

/* A row. columns: (columns), which are legal. context: NULL, or the shift id of the word in front, the row of the lexicon,
   and in search the roles that the node on top and the second have, and tokens that are not legal any more, below 0 for
   none. top, second: these roles; gone: these tokens, (more). listed: what its row of the lexicon has. */
typedef struct {
    const uint8_t *columns;
    const int64_t *context, *listed, *listed_end, *gone;
    int64_t top, second, more;
    int unbound;
} Row;

static const char *read_row(Row *row, const uint8_t *columns, const int64_t *context, int64_t wide,
                            const Vocabulary *all) {
    *row = (Row){.columns = columns, .context = context, .unbound = 1};
    if (wide >= 4) {
        row->top = context[2];
        row->second = context[3];
        row->gone = context + 4;
        row->more = wide - 4;
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

/* The tokens that are legal in any of the rows, and perhaps more: SHIFTs are not compared, nor what is not legal any
   more. columns: (R, columns). context: (R, wide), or NULL. found: (size), of which count are written, in order. */
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

/* Some tokens by column, and behind all of these by column those that the lexicon limits. begin: (2 × columns + 1),
   where each such group begins in order, and where the last ends; order: (count), places among the tokens. place: (size),
   where each token is among them, or -1. bearing: (bearers), the places of those that give a node a role. */
typedef struct {
    int64_t count, bearers;
    const int64_t *tokens; /* NULL: all */
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
        if (all->top_roles[token] | all->second_roles[token]) groups->bearing[groups->bearers++] = (int32_t)i;
    }
    for (int64_t i = 0; i < 2 * all->columns; i++) begin[i + 1] += begin[i]; /* where each ends */
    for (int64_t i = groups->count - 1; i >= 0; i--)
        groups->order[--begin[group_of(token_at(groups, i), all)]] = (int32_t)i;
    return NULL;
}

static void write(float *legal, const Row *row, const Groups *groups, const Vocabulary *all, int compare) {
    for (int64_t i = 0; i < all->columns * (row->unbound ? 2 : 1); i++) {
        if (!row->columns[i < all->columns ? i : i - all->columns]) continue;
        for (int64_t at = groups->begin[i]; at < groups->begin[i + 1]; at++) {
            const int64_t word = compare ? all->shift_word[token_at(groups, groups->order[at])] : -1;
            legal[groups->order[at]] = word < 0 || word == row->context[0];
        }
    }
    for (const int64_t *token = row->listed; token < row->listed_end && !row->unbound; token++)
        if (groups->place[*token] >= 0) legal[groups->place[*token]] = row->columns[all->column[*token]];
    for (int64_t i = 0; i < groups->bearers && (row->top | row->second); i++) {
        const int64_t token = token_at(groups, groups->bearing[i]);
        float *here = legal + groups->bearing[i];
        if (*here > 0.0f && ((row->top & all->top_roles[token]) | (row->second & all->second_roles[token]))) *here = -1.0f;
    }
    for (int64_t i = 0; i < row->more; i++) {
        const int64_t token = row->gone[i];
        if (token >= 0 && groups->place[token] >= 0) legal[groups->place[token]] = 0.0f;
    }
}

/* legal: (R, count), 1 and 0, and -1 for what is legal but would give a node a role that it has, of tokens (count), each
   there once; NULL: all. compare: whether a SHIFT must be that of the
   word in front. Others as above. */
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
        problem = read_row(&row, columns, context ? context + r * wide : NULL, wide, all);
        if (!problem) write(legal, &row, &groups, all, compare && context);
    }
    free(room);
    return problem;
}
