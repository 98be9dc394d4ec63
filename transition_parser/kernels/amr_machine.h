/* The AMR machine and the legality of its actions, as in states/amr_machine.py. Numbers are int64.

   Only the numbers that come from Python are checked: `prepare_table`, `first_state` and the tokens of `unroll_amrs`. */

/* `ActionClass` in states/table.py */
enum {
    NEVER, END, SHIFT, REDUCE, LEFT_ARC, LEFT_ARC_ROOT, RIGHT_ARC, SWAP, MERGE, PRED, COPY_LEMMA, VALUE, COPY_WORD,
    ENTITY, COPY_ENTITY, DEPENDENT, LA, RA, ROOT, CLOSE, LEFT_ARC_ANY, COLUMNS
};

/* The features of a word, as in states/table.py */
enum { SHIFT_ID, LEMMA, PLAIN, EVOKED, ROUTES = 4, FIRST_SPAN = EVOKED + ROUTES };
enum { UNBOUND, UNSEEN };             /* the first rows of the lexicon, as in states/table.py */
enum { ARCS_IN_A_ROW = 4 };           /* the most arcs in a row, as in transitions/amr.py */
enum { NOT_PLAIN, TEXT, NUMBER };     /* values of the feature PLAIN, as in states/table.py */

/* The sorts of nodes as bits, as in states/table.py */
static const int64_t NUMBER_BIT = 1 << 9, STRING_BIT = 1 << 10, TOP_ONLY = 1 << 13, TOPPED = (int64_t)1 << 32;
enum { LAST_CHANCE = 16 };
enum { REPEATS = 2 }; /* as in transitions/amr_limits.py */

/* `Rows` in amr_machine.py */
typedef struct {
    int64_t sentence, length, position, first, named, made, depth, below, has_concept, topped, closed, arcs, arcs_left,
        swaps_left, nodes_left, in_span;
} AmrRow;

/* `Nodes` in amr_machine.py */
typedef struct {
    int64_t word, group, constant, roles, sort, frame;
} AmrNode;

/* The action vocabulary, and the features of the words of a batch; see `AmrActions` in amrs.py.

   span: the largest number of nodes of a span
   labeled: 1 where SHIFTs name words
   groups: the tokens sorted into 2 × COLUMNS groups: by column, those that the lexicon limits after all others
   group_begin: (2 × COLUMNS + 1); the index in `groups` at which each group begins
   frame_classes, token_classes: (lemmas, senses) and (vocabulary); see `ActionTable.frame_classes`; NULL where nodes
       need no frames */
typedef struct {
    int64_t vocabulary, lexicon_rows, entries, lemmas, senses, labeled, sentences, width, fields, words, span;
    const int64_t *column, *shift_word, *top_roles, *second_roles, *new_roles, *route, *sense, *new_sort, *top_sorts,
        *second_sorts, *lacked, *offsets, *listed;
    const uint8_t *limited;
    const int64_t *features;
    int64_t *groups, *group_begin;
    const int64_t *frame_classes, *token_classes;
} AmrTable;

/* A hypothesis: a row, its nodes, the tokens that made nodes of its span (see `SpanActions` in amr_machine.py; NULL
   outside search), and its legal columns. */
typedef struct {
    AmrRow row;
    AmrNode *nodes;
    int64_t *named;
    uint8_t columns[COLUMNS];
} AmrState;


static const int64_t *word_of(const AmrTable *table, const AmrRow *row, int64_t word) {
    return table->features + (row->sentence * table->width + word) * table->fields;
}

static void drop_second(AmrRow *row, AmrNode *nodes) {
    memmove(nodes + row->below - 1, nodes + row->below, sizeof *nodes * (row->depth - row->below));
    row->depth--;
    row->below--;
}

static void make_arc(AmrRow *row, AmrNode *nodes, int64_t column) {
    const AmrNode top = nodes[row->depth - 1], second = nodes[row->below - 1];
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

/* Put the node that the token makes on the stack.

   in_search: 1 where the limits of search apply */
static void make_node(const AmrTable *table, AmrRow *row, AmrNode *nodes, int64_t column, int64_t token,
                      int in_search) {
    AmrNode node = {row->position - 1, row->made, column == VALUE || column == COPY_WORD, 0, 0, 0};
    const int64_t *word = word_of(table, row, row->first), route = table->route[token];
    const int alone = row->position - row->first == 1;
    const int64_t frame = alone && route >= 0 ? word[EVOKED + route] * table->senses + table->sense[token] : 0;
    if (table->frame_classes) node.frame = frame ? table->frame_classes[frame] : table->token_classes[token];
    if (in_search) {
        node.roles = table->new_roles[token];
        if (frame) node.roles |= table->lacked[frame];
        node.sort = table->new_sort[token];
        if (column == COPY_WORD) node.sort = alone ? (word[PLAIN] == NUMBER ? NUMBER_BIT : STRING_BIT) : 0;
        for (int64_t i = row->first; column == COPY_WORD && i < row->position; i++)
            if (word_of(table, row, i)[PLAIN] == TEXT) node.sort = STRING_BIT;
    }
    nodes[row->depth] = node;
    row->below = row->depth++;
    row->made++;
    row->named = 1;
    row->has_concept |= !node.constant;
}

/* Record that the token has made a node of the span. */
static void count_node(const AmrTable *table, AmrRow *row, int64_t *named, int64_t token) {
    row->nodes_left--;
    if (named && row->in_span < table->span) {
        int64_t times = 1;
        for (int64_t i = 0; i < table->span; i++) times += named[i] == token;
        named[row->in_span] = token;
        named[table->span + row->in_span] = times >= REPEATS ? token : -1;
    }
    row->in_span++;
}

/* Return 1 if the limits on the nodes of a span do not apply, because no word is left and there is no concept, else 0. */
static int is_free(const AmrRow *row) { return row->position == row->length && !row->has_concept; }

/* Find the legal columns of a state: 1 for legal columns, else 0. */
static void read_columns(const AmrTable *table, AmrState *state) {
    const AmrRow *row = &state->row;
    const AmrNode *nodes = state->nodes;
    uint8_t *columns = state->columns;
    memset(columns, 0, COLUMNS);
    columns[END] = row->closed;
    if (row->closed) return;
    int lemma = 1, plain = 1;
    for (int64_t i = row->first; i < row->position; i++) {
        lemma &= word_of(table, row, i)[LEMMA] != 0;
        plain &= word_of(table, row, i)[PLAIN] != NOT_PLAIN;
    }
    const int more = row->position < row->length, some = row->depth > 0, two = row->below > 0;
    const AmrNode *top = nodes + (some ? row->depth - 1 : 0), *second = nodes + (two ? row->below - 1 : 0);
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
    const int node_left = row->nodes_left > 0 && (row->in_span < table->span || is_free(row));
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
    columns[SWAP] = two && row->swaps_left > 0 && (more || !concept_second || (top->constant ? lower : stays));
    columns[ROOT] = concept_top && !row->topped;
    columns[CLOSE] = !more && row->topped && concepts && connected;
    if (some && top->sort & TOP_ONLY && !row->topped) /* the node on top must become the top of the graph now */
        for (int64_t column = 0; column < COLUMNS; column++) columns[column] &= column == DEPENDENT || column == ROOT;
}

/* Take a legal action. */
static void take_amr_action(const AmrTable *table, AmrState *state, int64_t token) {
    AmrRow *row = &state->row;
    AmrNode *nodes = state->nodes, *top = nodes + row->depth - 1, *second = nodes + row->below - 1;
    const int64_t column = table->column[token];
    if (state->named && row->depth) top->roles |= table->top_roles[token];
    if (state->named && row->below) second->roles |= table->second_roles[token];
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
    case COPY_WORD: make_node(table, row, nodes, column, token, state->named != NULL); /* falls through */
    case DEPENDENT: count_node(table, row, state->named, token); break;
    case SHIFT:
        row->first = row->position;
        row->named = row->in_span = 0;
        for (int64_t i = 0; state->named && i < 2 * table->span; i++) state->named[i] = -1; /* falls through */
    case MERGE:
        row->position++;
        row->below = row->depth ? row->depth - 1 : 0;
        break;
    case ROOT: row->topped = 1; break;
    case CLOSE:
        row->closed = 1;
        row->depth = row->below = 0;
        break;
    }
    read_columns(table, state);
}

/* Return the lexicon row of the current span. Where the graph would stay without a concept, the lexicon limits nothing. */
static int64_t lexicon_row(const AmrTable *table, const AmrState *state) {
    const AmrRow *row = &state->row;
    const int64_t length = row->position - row->first, spans = table->fields - FIRST_SPAN;
    if (is_free(row) && !state->columns[COPY_LEMMA]) return UNBOUND;
    if (length > spans) return UNSEEN;
    return word_of(table, row, row->position ? row->position - 1 : 0)[FIRST_SPAN + (length > 1 ? length - 1 : 0)];
}

/* Find the classes of the frames of the node on top and of the second node. */
static void read_frames(const AmrState *state, int64_t frames[2]) {
    frames[0] = state->row.depth ? state->nodes[state->row.depth - 1].frame : 0;
    frames[1] = state->row.below ? state->nodes[state->row.below - 1].frame : 0;
}

/* Compute the ranks of words on the stack: 1 for the words of the current span, k + 1 for the word of the k-th node from
   the top of the stack, 0 for other words.

   ranks: (length + 1); the result */
static void stack_ranks(const AmrState *state, int64_t *ranks) {
    const AmrRow *row = &state->row;
    memset(ranks, 0, sizeof *ranks * (row->length + 1));
    for (int64_t i = 0; i < row->below; i++) ranks[state->nodes[i].word] = row->below - i + 2;
    if (row->depth) ranks[state->nodes[row->depth - 1].word] = 2;
    for (int64_t word = row->first; word < row->position; word++) ranks[word] = 1;
}

/* Compute the ranks of words in the buffer: k for the k-th word of the buffer, the rank after the last for the words of
   nodes that were set aside, 0 for other words.

   ranks: (length + 1); the result */
static void buffer_ranks(const AmrState *state, int64_t *ranks) {
    const AmrRow *row = &state->row;
    memset(ranks, 0, sizeof *ranks * (row->length + 1));
    for (int64_t word = row->position; word <= row->length; word++) ranks[word] = word - row->position + 1;
    for (int64_t i = row->below; i < row->depth - 1; i++)
        ranks[state->nodes[i].word] = row->length - row->position + 2;
}

/* The tokens that are legal in at least one row.

   marks: (vocabulary); 1 for these tokens */
typedef struct {
    int64_t count, *tokens;
    uint8_t *marks;
} AmrTokens;

/* Find the legality of tokens in a state of search: 1 for legal tokens, −1 for legal tokens that would give a node a
   role that it already has, or that the sorts of nodes forbid; see `DeviceTable.legality`.

   legal: (vocabulary), all 0; the result
   all: all tokens that are legal in some row; the tokens of this row are added */
static void read_legality(const AmrTable *table, const AmrState *state, int8_t *legal, AmrTokens *all) {
    const AmrRow *row = &state->row;
    const AmrNode *top = state->nodes + row->depth - 1, *second = state->nodes + row->below - 1;
    const int further = row->position == row->length && !state->columns[CLOSE] ? LAST_CHANCE : 0;
    const int64_t front = word_of(table, row, row->position)[SHIFT_ID], span = lexicon_row(table, state);
    const int64_t top_roles = row->depth ? top->roles : 0, second_roles = row->below ? second->roles : 0;
    const int64_t top_sort = (row->depth ? top->sort << further : 0) | (row->topped ? TOPPED : 0);
    const int64_t second_sort = row->below ? second->sort << further : 0;
    for (int64_t group = 0; group <= 2 * COLUMNS; group++) { /* the last group is the row of the lexicon */
        const int listed = group == 2 * COLUMNS;
        if (listed ? span == UNBOUND : !state->columns[group % COLUMNS] || (group >= COLUMNS && span != UNBOUND))
            continue;
        const int64_t *begin = listed ? table->listed + table->offsets[span] : table->groups + table->group_begin[group];
        const int64_t *end = listed ? table->listed + table->offsets[span + 1]
                                    : table->groups + table->group_begin[group + 1];
        for (; begin < end; begin++) {
            const int64_t token = *begin, word = table->shift_word[token];
            if (!state->columns[table->column[token]]) continue;
            if (table->labeled && word >= 0 && word != (front < 0 ? 0 : front)) continue;
            const int64_t forbidden = (top_roles & table->top_roles[token]) | (second_roles & table->second_roles[token]) |
                                      (top_sort & table->top_sorts[token]) | (second_sort & table->second_sorts[token]);
            legal[token] = forbidden ? -1 : 1;
            all->tokens[all->count] = token;
            all->count += !all->marks[token];
            all->marks[token] = 1;
        }
    }
    for (int64_t i = 0; i < table->span && !is_free(row); i++) /* the tokens that may make no more nodes of the span */
        if (state->named[table->span + i] >= 0) legal[state->named[table->span + i]] = 0;
}

/* Check the numbers of a table, and sort its tokens. Return NULL, or a message about wrong arguments. */
static const char *prepare_table(AmrTable *table) {
    memset(table->group_begin, 0, sizeof *table->group_begin * (2 * COLUMNS + 1));
    for (int64_t token = 0; token < table->vocabulary; token++) {
        if (OUTSIDE(table->column[token], COLUMNS)) return "column: there is no such column";
        if (table->route[token] >= ROUTES || OUTSIDE(table->sense[token], table->senses))
            return "route or sense: beyond the table of frames";
        table->group_begin[table->column[token] + (table->limited[token] ? COLUMNS : 0)]++;
    }
    for (int64_t i = 0; i < 2 * COLUMNS; i++) table->group_begin[i + 1] += table->group_begin[i];
    for (int64_t token = table->vocabulary - 1; token >= 0; token--)
        table->groups[--table->group_begin[table->column[token] + (table->limited[token] ? COLUMNS : 0)]] = token;
    for (int64_t row = 0; row < table->lexicon_rows; row++)
        if (table->offsets[row] < 0 || table->offsets[row] > table->offsets[row + 1] ||
            table->offsets[row + 1] > table->entries)
            return "offsets: beyond the lexicon";
    for (int64_t i = 0; i < table->entries; i++)
        if (OUTSIDE(table->listed[i], table->vocabulary)) return "lexicon: beyond the vocabulary";
    const int64_t *word = table->features, *end = word + table->sentences * table->width * table->fields;
    for (; word < end; word += table->fields) {
        for (int64_t i = EVOKED; i < FIRST_SPAN; i++)
            if (OUTSIDE(word[i], table->lemmas)) return "features: beyond the table of frames";
        for (int64_t i = FIRST_SPAN; i < table->fields; i++)
            if (OUTSIDE(word[i], table->lexicon_rows)) return "features: beyond the lexicon";
    }
    return NULL;
}

/* Set the row of a state before the first action. Return NULL, or a message about wrong arguments.

   row: the row; see `Rows.initial` in amr_machine.py */
static const char *first_state(const AmrTable *table, const AmrRow *row, AmrState *state) {
    if (OUTSIDE(row->sentence, table->sentences) || OUTSIDE(row->length, table->words))
        return "rows: beyond the words that there are";
    state->row = *row;
    for (int64_t i = 0; state->named && i < 2 * table->span; i++) state->named[i] = -1;
    read_columns(table, state);
    return NULL;
}

/* Return 1 if a state may take an action in view of its columns and of the word of SHIFT, else 0. */
static int may_take(const AmrTable *table, const AmrState *state, int64_t token) {
    const int64_t word = table->shift_word[token], front = word_of(table, &state->row, state->row.position)[SHIFT_ID];
    return state->columns[table->column[token]] &&
           (!table->labeled || word < 0 || word == (front < 0 ? 0 : front));
}

/* Find the states before each action of derivations outside search. An action that is not legal changes nothing. Return
   NULL, or a message about wrong arguments.

   steps: the number T of actions
   nodes: (more than any row may make); memory
   rows: (sentences); the rows before the first action
   tokens: (sentences, T); the actions
   columns: (sentences, T, COLUMNS); the result; 1 for legal columns
   context: (sentences, T, 2); the result; the shift id of the word in front, and the lexicon row
   stack, buffer: (sentences, T, words); the results; NULL for no ranks
   frames: (sentences, T, 2); the result; the frames of the node on top and of the second node; NULL for none */
const char *unroll_amrs(AmrTable *table, int64_t steps, AmrNode *nodes, const AmrRow *rows, const int64_t *tokens,
                        uint8_t *columns, int64_t *context, int16_t *stack, int16_t *buffer, int16_t *frames) {
    const char *problem = prepare_table(table);
    int64_t *ranks = malloc(sizeof *ranks * table->words);
    if (!ranks) return NO_MEMORY;
    for (int64_t sentence = 0; sentence < table->sentences && !problem; sentence++, tokens += steps) {
        AmrState state = {.nodes = nodes};
        problem = first_state(table, rows + sentence, &state);
        memset(ranks, 0, sizeof *ranks * table->words);
        for (int64_t step = 0; step < steps && !problem; step++, columns += COLUMNS, context += 2) {
            memcpy(columns, state.columns, COLUMNS);
            context[0] = word_of(table, &state.row, state.row.position)[SHIFT_ID];
            context[1] = lexicon_row(table, &state);
            for (int kind = 0; kind < 2 && stack; kind++) {
                (kind ? buffer_ranks : stack_ranks)(&state, ranks);
                for (int64_t i = 0; i < table->words; i++) *(kind ? buffer++ : stack++) = (int16_t)ranks[i];
            }
            if (frames) {
                int64_t found[2];
                read_frames(&state, found);
                for (int i = 0; i < 2; i++) *frames++ = (int16_t)found[i];
            }
            if (OUTSIDE(tokens[step], table->vocabulary)) problem = "tokens: beyond the vocabulary";
            else if (may_take(table, &state, tokens[step])) take_amr_action(table, &state, tokens[step]);
        }
    }
    free(ranks);
    return problem;
}
