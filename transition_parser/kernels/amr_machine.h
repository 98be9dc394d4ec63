/* The AMR machine; see amr_machine_kernels.c. */

#include "common.h"

/* `ActionClass` in states/table.py */
enum {
    NEVER, END, SHIFT, REDUCE, LEFT_ARC, LEFT_ARC_ROOT, RIGHT_ARC, SWAP, MERGE, PRED, COPY_LEMMA, VALUE, COPY_WORD,
    ENTITY, COPY_ENTITY, DEPENDENT, LA, RA, ROOT, CLOSE, LEFT_ARC_ANY, COLUMNS
};

/* `Rows` in amr_rules.py */
typedef struct {
    int64_t sentence, length, position, first, named, made, depth, below, has_concept, topped, closed, arcs, arcs_left,
        swaps_left, nodes_left, in_span;
} Row;

/* `Nodes` in amr_rules.py */
typedef struct {
    int64_t word, group, constant, roles, sort, several;
} Node;

/* The values that all rows share.

   slots: the number of slots for nodes in a row
   words: the number of words of the longest sentence plus one; at most `width`
   span: the largest number of nodes of a span
   labelled: 1 where SHIFTs name words
   features: (sentences, width, fields); see `ActionTable.features`
   column, shift_word, top_roles, second_roles, new_roles, new_several, route, sense, new_sort: (vocabulary); see
   `ActionTable`
   most: (vocabulary); how many nodes of one span each token may make
   lacked: (lemmas, senses); see `ActionTable` */
typedef struct {
    int64_t slots, sentences, width, fields, words, vocabulary, span, labelled, lemmas, senses;
    const int64_t *features, *column, *shift_word, *most, *top_roles, *second_roles, *new_roles, *new_several, *route,
        *sense, *new_sort, *lacked;
} Setting;

const char *take_amr_actions(int64_t rows, const Setting *setting, const int64_t *tokens, Row *numbers, Node *nodes,
                             int64_t *named, const uint8_t *columns_before, const int64_t *context_before,
                             uint8_t *columns, int64_t *context);
const char *stack_ranks(int64_t rows, const Setting *setting, const Row *numbers, const Node *nodes, int64_t *ranks);
const char *buffer_ranks(int64_t rows, const Setting *setting, const Row *numbers, const Node *nodes, int64_t *ranks);
