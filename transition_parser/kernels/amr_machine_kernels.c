/* The actions of the AMR machine on CPUs, in one pass over the rows, as in amr_rules.py and amr_machine.py. All numbers
   are int64.

   Functions return NULL, or a message about wrong arguments. amr_machine_kernels.py checks types and sizes. The
   functions here check each index before they use it. Dimension: R rows. */

#include <string.h>

#include "amr_machine.h"

/* The features of a word, as in states/table.py */
enum { SHIFT_ID, LEMMA, PLAIN, SEVERAL, EVOKED, ROUTES = 4, FIRST_SPAN = EVOKED + ROUTES };
enum { UNBOUND, UNSEEN };                    /* the first rows of the lexicon, as in states/table.py */
enum { ARCS_IN_A_ROW = 4 };                  /* the most arcs in a row, as in transitions/amr.py */
enum { NOT_PLAIN, TEXT, NUMBER };            /* values of the feature PLAIN, as in states/table.py */

/* The sorts of nodes as bits, as in states/table.py */
static const int64_t NUMBER_BIT = 1 << 9, STRING_BIT = 1 << 10, TOP_ONLY = 1 << 13, TOPPED = (int64_t)1 << 32;
enum { LAST_CHANCE = 16 };
enum { NAMED_BY_WORD = -1 }; /* as in states/table.py */

static const char *problem_of(const Row *row, const Node *nodes, const Setting *setting) {
    if (OUTSIDE(row->sentence, setting->sentences)) return "numbers: there is no such sentence";
    if (OUTSIDE(row->length, setting->words) || OUTSIDE(row->position, row->length + 1) ||
        OUTSIDE(row->first, row->position + 1))
        return "numbers: beyond the words that there are";
    if (OUTSIDE(row->depth, setting->slots + 1) || OUTSIDE(row->below, row->depth + (row->depth == 0)))
        return "numbers: beyond the nodes that there are";
    if (row->in_span < 0) return "numbers: a span has less than no nodes";
    for (int64_t i = 0; i < row->depth; i++)
        if (OUTSIDE(nodes[i].word, setting->words)) return "nodes: beyond the words that there are";
    return NULL;
}

static void drop_second(Row *row, Node *nodes) {
    memmove(nodes + row->below - 1, nodes + row->below, sizeof *nodes * (row->depth - row->below));
    row->depth--;
    row->below--;
}

static void make_arc(Row *row, Node *nodes, int64_t column) {
    const Node top = nodes[row->depth - 1], second = nodes[row->below - 1];
    if (top.group == second.group) row->arcs_left--;
    for (int64_t i = 0; i < row->depth; i++)
        if (nodes[i].group == second.group) nodes[i].group = top.group;
    row->arcs++;
    if (column == LA && second.constant) {
        drop_second(row, nodes);
        row->arcs = 0;
    } else if (column == RA && top.constant) { /* the nodes that were set aside are back on the stack */
        row->depth--;
        row->below = row->depth ? row->depth - 1 : 0;
        row->arcs = 0;
    }
}

static void add_roles(Node *node, int64_t roles) { node->roles |= roles & ~node->several; }

/* Give the two nodes on top the roles that the token gives them, for search. */
static void give_roles(const Row *row, Node *nodes, int64_t token, const Setting *setting) {
    if (row->depth) add_roles(nodes + row->depth - 1, setting->top_roles[token]);
    if (row->below) add_roles(nodes + row->below - 1, setting->second_roles[token]);
}

/* Return the sort of the node that the token makes, as in amr_rules.py. */
static int64_t sort_made(const Row *row, int64_t column, int64_t token, const Setting *setting) {
    if (column != COPY_WORD) return setting->new_sort[token];
    const int alone = row->position - row->first == 1;
    const int64_t *word = setting->features + (row->sentence * setting->width + row->first) * setting->fields;
    if (alone) return word[PLAIN] == NUMBER ? NUMBER_BIT : STRING_BIT;
    for (int64_t i = row->first; i < row->position; i++, word += setting->fields)
        if (word[PLAIN] == TEXT) return STRING_BIT;
    return 0;
}

/* Return the roles that the node made by the token may bear several times, as in amr_rules.py. */
static int64_t several_made(const Row *row, int64_t token, const Setting *setting) {
    const int64_t several = setting->new_several[token];
    if (several != NAMED_BY_WORD) return several;
    if (row->position - row->first != 1) return 0;
    return setting->features[(row->sentence * setting->width + row->first) * setting->fields + SEVERAL];
}

/* Return the roles that the frame named by the token does not have, as in amr_rules.py. */
static int64_t roles_lacked(const Row *row, int64_t token, const Setting *setting) {
    const int64_t route = setting->route[token], sense = setting->sense[token];
    if (row->position - row->first != 1 || OUTSIDE(route, ROUTES) || OUTSIDE(sense, setting->senses)) return 0;
    const int64_t *word = setting->features + (row->sentence * setting->width + row->first) * setting->fields;
    const int64_t lemma = word[EVOKED + route];
    return OUTSIDE(lemma, setting->lemmas) ? 0 : setting->lacked[lemma * setting->senses + sense];
}

/* Put a new node on the stack. */
static void make_node(Row *row, Node *nodes, Node node) {
    nodes[row->depth] = node;
    row->below = row->depth++;
    row->made++;
    row->named = 1;
    row->has_concept |= !node.constant;
}

/* Return the node that the token makes.

   in_search: 1 where the limits of search apply */
static Node node_made(const Row *row, int64_t column, int64_t token, int in_search, const Setting *setting) {
    Node node = {row->position - 1, row->made, column == VALUE || column == COPY_WORD, 0, 0, 0};
    if (in_search) {
        node.roles = setting->new_roles[token] | roles_lacked(row, token, setting);
        node.sort = sort_made(row, column, token, setting);
        node.several = several_made(row, token, setting);
    }
    return node;
}

/* Record that the token has made a node of the span.

   named: (2, span); the tokens that made nodes, and those of them that may make no more; NULL outside search */
static void count_node(Row *row, int64_t *named, int64_t token, const Setting *setting) {
    row->nodes_left--;
    if (named && row->in_span < setting->span) {
        int64_t times = 1;
        for (int64_t i = 0; i < setting->span; i++) times += named[i] == token;
        named[row->in_span] = token;
        named[setting->span + row->in_span] = times >= setting->most[token] ? token : -1;
    }
    row->in_span++;
}

static void apply(Row *row, Node *nodes, int64_t *named, int64_t column, int64_t token, const Setting *setting) {
    if (named) give_roles(row, nodes, token, setting);
    if (column != LA && column != RA) row->arcs = 0;
    switch (column) {
    case LA:
    case RA: make_arc(row, nodes, column); break;
    case REDUCE: drop_second(row, nodes); break;
    case SWAP:
        row->below--;
        row->swaps_left--;
        break;
    case PRED:
    case COPY_LEMMA:
    case ENTITY:
    case COPY_ENTITY:
    case VALUE:
    case COPY_WORD:
        make_node(row, nodes, node_made(row, column, token, named != NULL, setting));
        count_node(row, named, token, setting);
        break;
    case DEPENDENT: count_node(row, named, token, setting); break;
    case SHIFT:
    case MERGE:
        if (column == SHIFT) {
            row->first = row->position;
            row->named = row->in_span = 0;
            for (int64_t i = 0; named && i < 2 * setting->span; i++) named[i] = -1;
        }
        row->position++;
        row->below = row->depth ? row->depth - 1 : 0;
        break;
    case ROOT: row->topped = 1; break;
    case CLOSE:
        row->closed = 1;
        row->depth = row->below = 0;
        break;
    }
}

/* Compute the legal columns of a row: 1 for legal columns, else 0. */
static void read_columns(const Row *row, const Node *nodes, const Setting *setting, int free, uint8_t *columns) {
    memset(columns, 0, COLUMNS);
    columns[END] = row->closed;
    if (row->closed) return;
    const int64_t *word = setting->features + (row->sentence * setting->width + row->first) * setting->fields;
    int lemma = 1, plain = 1;
    for (int64_t i = row->first; i < row->position; i++, word += setting->fields) {
        lemma &= word[LEMMA] != 0;
        plain &= word[PLAIN] != NOT_PLAIN;
    }
    const int more = row->position < row->length, some = row->depth > 0, two = row->below > 0;
    const Node *top = nodes + (some ? row->depth - 1 : 0), *second = nodes + (two ? row->below - 1 : 0);
    const int concept_top = some && !top->constant, concept_second = two && !second->constant;
    const int same = top->group == second->group;
    int lower = 0, mate = 0, mate_below = 0, connected = 1, concepts = 0;
    int64_t group = 0;
    for (int64_t i = 0; i < row->depth; i++) { /* over the concepts on the stack and those set aside */
        if (nodes[i].constant) continue;
        const int below = i < row->below - 1, with = nodes[i].group == second->group && i != row->below - 1;
        lower |= below;
        mate |= with;
        mate_below |= with && below;
        connected &= !concepts || nodes[i].group == group;
        group = nodes[i].group;
        concepts = 1;
    }
    const int stays = same || mate_below;
    const int node_left = row->nodes_left > 0 && (row->in_span < setting->span || free);
    const int node = row->position > 0 && node_left;
    const int value = node && (row->has_concept || (more && row->nodes_left > 1));
    const int arc = two && row->arcs < ARCS_IN_A_ROW && (row->arcs_left > 0 || !same);
    columns[SHIFT] = more;
    columns[MERGE] = more && !row->named;
    columns[PRED] = node;
    columns[COPY_LEMMA] = node && lemma;
    columns[VALUE] = value;
    columns[COPY_WORD] = value && plain;
    columns[ENTITY] = node && !row->named;
    columns[COPY_ENTITY] = node && !row->named && plain;
    columns[DEPENDENT] = concept_top && node_left;
    columns[LA] = arc && concept_top;
    columns[RA] = arc && concept_second;
    columns[REDUCE] = two && (!concept_second || (more ? mate : stays));
    columns[SWAP] = two && row->swaps_left > 0 &&
                    (more || !concept_second || (top->constant ? lower : stays));
    columns[ROOT] = concept_top && !row->topped;
    columns[CLOSE] = !more && row->topped && concepts && connected;
    if (some && top->sort & TOP_ONLY && !row->topped) /* the node on top must become the top of the graph now */
        for (int64_t column = 0; column < COLUMNS; column++) columns[column] &= column == DEPENDENT || column == ROOT;
}

static int64_t shifted(int64_t bits, int places) { return (int64_t)((uint64_t)bits << places); }

/* Compute the context of a row: the shift id of the next word and the lexicon row of the current span. In search the
   roles of the node on top and of the second node follow, then their sorts, and then the tokens that may make no more
   nodes of the span.

   free: 1 if no word is left and there is no concept yet, so that no limit on spans binds
   may_close: 1 if CLOSE is legal */
static void read_context(const Row *row, const Node *nodes, const int64_t *named, const Setting *setting, int free,
                         int may_close, int64_t *context) {
    const int64_t *words = setting->features + row->sentence * setting->width * setting->fields;
    const int64_t last = row->position ? row->position - 1 : 0, length = row->position - row->first;
    const int64_t spans = setting->fields - FIRST_SPAN, back = length > 1 ? length - 1 : 0;
    context[0] = words[row->position * setting->fields + SHIFT_ID];
    context[1] = free ? UNBOUND : length > spans ? UNSEEN : words[last * setting->fields + FIRST_SPAN + back];
    if (!named) return;
    context[2] = row->depth ? nodes[row->depth - 1].roles : 0;
    context[3] = row->below ? nodes[row->below - 1].roles : 0;
    const int further = row->position == row->length && !may_close ? LAST_CHANCE : 0;
    context[4] = (row->depth ? shifted(nodes[row->depth - 1].sort, further) : 0) | (row->topped ? TOPPED : 0);
    context[5] = row->below ? shifted(nodes[row->below - 1].sort, further) : 0;
    for (int64_t i = 0; i < setting->span; i++) context[6 + i] = free ? -1 : named[setting->span + i];
}

static int is_legal(int64_t token, int64_t column, const uint8_t *columns, const int64_t *context,
                    const Setting *setting) {
    const int64_t wanted = setting->shift_word[token];
    return columns[column] && (!setting->labelled || wanted < 0 || wanted == context[0]);
}

/* Return 1 if the row has the nodes or words that an action of the column needs, else 0. */
static int has_what_it_takes(const Row *row, int64_t column) {
    switch (column) {
    case LA:
    case RA:
    case REDUCE:
    case SWAP: return row->below > 0;
    case SHIFT:
    case MERGE: return row->position < row->length;
    default: return column < PRED || column > DEPENDENT || row->position > 0;
    }
}

/* Take each row's action if it is legal, and compute the legal columns and the context after it. The lexicon makes no
   action illegal here. Return NULL, or a message about wrong arguments.

   `numbers`, `nodes` and `named` change in place, up to the first row with a problem.

   tokens: (R); the actions; NULL to take no action
   numbers: (R); the numbers of each row
   nodes: (R, slots); with a free slot in each row
   named: (R, 2, span); the tokens that made the nodes of the current span, and those of them that may make no more;
       NULL outside search
   columns_before: (R, COLUMNS); the legal columns before the actions; NULL without tokens
   context_before: (R, 2), or (R, 6 + span) with `named`; the context before the actions; NULL without tokens
   columns: (R, COLUMNS); the result; the legal columns after the actions
   context: as `context_before`; the result; the context after the actions */
const char *take_amr_actions(int64_t rows, const Setting *setting, const int64_t *tokens, Row *numbers, Node *nodes,
                             int64_t *named, const uint8_t *columns_before, const int64_t *context_before,
                             uint8_t *columns, int64_t *context) {
    const int64_t wide = named ? 6 + setting->span : 2;
    for (int64_t r = 0; r < rows; r++) {
        Row *row = numbers + r;
        Node *here = nodes + r * setting->slots;
        int64_t *of_span = named ? named + r * 2 * setting->span : NULL;
        const char *problem = problem_of(row, here, setting);
        if (problem) return problem;
        if (tokens) {
            const int64_t token = tokens[r];
            if (OUTSIDE(token, setting->vocabulary)) return "tokens: beyond the vocabulary";
            if (row->depth == setting->slots) return "nodes: no slot is free";
            const int64_t column = setting->column[token];
            if (OUTSIDE(column, COLUMNS)) return "column: there is no such column";
            if (is_legal(token, column, columns_before + r * COLUMNS, context_before + r * wide, setting)) {
                if (!has_what_it_takes(row, column)) return "columns: not those of the rows";
                apply(row, here, of_span, column, token, setting);
            }
        }
        const int free = row->position == row->length && !row->has_concept;
        read_columns(row, here, setting, free, columns + r * COLUMNS);
        read_context(row, here, of_span, setting, free, columns[r * COLUMNS + CLOSE], context + r * wide);
    }
    return NULL;
}

/* Compute the ranks of words on the stack. Return NULL, or a message about wrong arguments.

   ranks: (R, words); the result; 1 for the words of the current span, k + 1 for the word of the k-th node from the top
       of the stack, 0 for other words */
const char *stack_ranks(int64_t rows, const Setting *setting, const Row *numbers, const Node *nodes, int64_t *ranks) {
    memset(ranks, 0, sizeof *ranks * rows * setting->words);
    for (int64_t r = 0; r < rows; r++, numbers++, nodes += setting->slots, ranks += setting->words) {
        const char *problem = problem_of(numbers, nodes, setting);
        if (problem) return problem;
        for (int64_t i = 0; i < numbers->below; i++) ranks[nodes[i].word] = numbers->below - i + 2;
        if (numbers->depth) ranks[nodes[numbers->depth - 1].word] = 2;
        for (int64_t word = numbers->first; word < numbers->position; word++) ranks[word] = 1;
    }
    return NULL;
}

/* Compute the ranks of words in the buffer. Return NULL, or a message about wrong arguments.

   ranks: (R, words); the result; k for the k-th word of the buffer, the rank after the last for the words of nodes that
       were set aside, 0 for other words */
const char *buffer_ranks(int64_t rows, const Setting *setting, const Row *numbers, const Node *nodes, int64_t *ranks) {
    memset(ranks, 0, sizeof *ranks * rows * setting->words);
    for (int64_t r = 0; r < rows; r++, numbers++, nodes += setting->slots, ranks += setting->words) {
        const char *problem = problem_of(numbers, nodes, setting);
        if (problem) return problem;
        const int64_t last = numbers->length - numbers->position + 2;
        for (int64_t word = numbers->position; word <= numbers->length; word++)
            ranks[word] = word - numbers->position + 1;
        for (int64_t i = numbers->below; i < numbers->depth - 1; i++) ranks[nodes[i].word] = last;
    }
    return NULL;
}
