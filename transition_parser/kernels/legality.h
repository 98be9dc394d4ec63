/* The legality of actions; see legality_kernels.c. */

#include "common.h"

/* The action vocabulary. `offsets`, `tokens` and `limited` are NULL without a lexicon.

   size: the number of tokens
   columns: the number of columns
   rows: the number of lexicon rows
   entries: the length of `tokens`
   column: (size); the column of each token
   shift_word: (size); the shift id of a SHIFT, below 0 for other tokens
   top_roles, second_roles: (size); the roles that a token gives the node on top and the second node, as bits
   top_sorts, second_sorts: (size); the sorts that the node on top and the second node may not have, as bits
   offsets: (rows + 1); lexicon row r has the tokens from tokens[offsets[r]] to before tokens[offsets[r + 1]]
   tokens: (entries); the tokens of the lexicon rows
   limited: (size); 1 for the tokens that the lexicon limits */
typedef struct {
    int64_t size, columns, rows, entries;
    const int64_t *column, *shift_word, *top_roles, *second_roles, *top_sorts, *second_sorts, *offsets, *tokens;
    const uint8_t *limited;
} Vocabulary;

const char *legal_anywhere(int64_t rows, const Vocabulary *all, int64_t wide, const uint8_t *columns,
                           const int64_t *context, int64_t *found, int64_t *count);
const char *legality(int64_t rows, const Vocabulary *all, int64_t wide, const uint8_t *columns, const int64_t *context,
                     int64_t compare, int64_t count, const int64_t *tokens, float *legal);
