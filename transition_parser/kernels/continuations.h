/* Sums of rows with their layer norm, and the best continuations of hypotheses, compiled once for each kind
   of processor; see kernels.c. */

static void NAME(add_and_normalize)(int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
                                    const char *bias, float epsilon, char *normal, const int half) {
    const int64_t step = 2 * LANES * (half ? 2 : 4), all = dim * (half ? 2 : 4);
    for (int64_t row = 0; row < rows; row++, x += all, added += all, normal += all) {
        NAME(Floats) sum = {0}, squares = {0};
        float sums[4];
        for (int64_t at = 0; at < all; at += step) {
            NAME(Pair) one = NAME(load)(x + at, half), more = NAME(load)(added + at, half);
            one.a += more.a;
            one.b += more.b;
            NAME(store)(x + at, one, half);
            one = NAME(load)(x + at, half); /* the rounded sum, of which the norm is taken */
            sum += one.a + one.b;
        }
        NAME(sums)(sum, sum, sum, sum, sums);
        const float mean = sums[0] / (float)dim;
        for (int64_t at = 0; at < all; at += step) {
            NAME(Pair) one = NAME(load)(x + at, half);
            one.a -= mean;
            one.b -= mean;
            squares += one.a * one.a + one.b * one.b;
        }
        NAME(sums)(squares, squares, squares, squares, sums);
        const float scale = 1.0f / sqrtf(sums[0] / (float)dim + epsilon);
        for (int64_t at = 0; at < all; at += step) {
            NAME(Pair) one = NAME(load)(x + at, half);
            const NAME(Pair) w = NAME(load)(weight + at, half), b = NAME(load)(bias + at, half);
            one.a = (one.a - mean) * scale * w.a + b.a;
            one.b = (one.b - mean) * scale * w.b + b.b;
            NAME(store)(normal + at, one, half);
        }
    }
}

/* Add the lexical prior of a hypothesis's span to its scores. Return NULL, or a message about wrong arguments.

   count: the number of tokens in `room`
   scores: (count) */
INLINE const char *NAME(add_prior)(const AmrSearch *search, const AmrState *state, int64_t count, const ScoreRoom *room,
                                   float *scores, const int half) {
    const Network *by = search->network;
    const int64_t span = lexicon_row(search->table, state);
    if (OUTSIDE(span, by->prior_rows)) return "prior: beyond the lexicon";
    const int64_t begin = by->offsets[span], end = by->offsets[span + 1];
    if (begin < 0 || begin > end || end > by->entries) return "offsets: beyond the prior";
    for (int64_t at = begin; at < end; at++) {
        const int64_t token = by->prior_tokens[at];
        if (OUTSIDE(token, search->table->vocabulary)) return "prior: beyond the vocabulary";
        const int64_t place = room->place[token]; /* of this token, or a number left by others */
        if (OUTSIDE(place, count) || room->tokens[place] != token) continue;
        scores[place] += half ? widen(((const uint16_t *)by->values)[at]) : ((const float *)by->values)[at];
        if (half) scores[place] = widen(round_to_half(scores[place]));
    }
    return NULL;
}

/* Add to the scores of arcs what the functions of their roles give, by the frames of the nodes that they lead from. Return
   NULL, or a message about wrong arguments. The keys in `room` are overwritten.

   legal: (vocabulary)
   query: (dim); the output of the decoder
   scores: the scores of the tokens in `room` */
INLINE const char *NAME(add_functions)(const AmrSearch *search, const AmrState *state, const int8_t *legal,
                                       const char *query, const ScoreRoom *room, float *scores, const int half) {
    const Network *by = search->network;
    const int64_t dim = by->heads * by->d, bytes = dim * (half ? 2 : 4);
    Keys keys = {room->keys, 0};
    int64_t frames[2], places[MOST_ARCS];
    read_frames(state, frames);
    if (OUTSIDE(frames[0], by->frames) || OUTSIDE(frames[1], by->frames)) return "frames: beyond the classes";
    for (int64_t arc = 0; arc < by->arcs && (frames[0] || frames[1]); arc++) {
        const int64_t token = by->arc_tokens[arc], row = by->rows[frames[by->places[arc]] * by->arcs + arc];
        if (!row || !legal[token]) continue;
        places[keys.count] = room->place[token];
        keys.at[keys.count++] = by->of_functions + (row - 1) * bytes;
    }
    if (!keys.count) return NULL;
    end_keys(&keys);
    NAME(multiply)(&query, 1, keys.at, keys.count, 0, 0, 0, room->added, 0, dim, half);
    for (int64_t i = 0; i < keys.count; i++) {
        float *score = scores + places[i];
        *score += half ? widen(round_to_half(room->added[i])) : room->added[i];
        if (half) *score = widen(round_to_half(*score));
    }
    return NULL;
}

/* Keep a continuation if it is among the best. Of continuations with equal totals the first one wins.

   best: (beam); the best ones, of which there are `count` */
INLINE void NAME(keep_best)(Continued *best, int64_t beam, int64_t *count, const Continued new) {
    if (*count == beam && new.total <= best[beam - 1].total) return;
    int64_t at = *count < beam ? (*count)++ : beam - 1;
    for (; at > 0 && best[at - 1].total < new.total; at--) best[at] = best[at - 1];
    best[at] = new;
}

/* Find the best continuations of up to SHARING hypotheses from `first` on. Return NULL, or a message about numbers that
   are not finite. The tokens that some of these hypotheses may take become the keys.

   normed: (rows, dim); the output of the decoder for all hypotheses of the search */
INLINE const char *NAME(continued)(AmrSearch *search, int64_t first, const char *normed, const ScoreRoom *room,
                                   const int half) {
    const Network *by = search->network;
    const int64_t dim = by->heads * by->d, bytes = dim * (half ? 2 : 4), vocabulary = search->table->vocabulary;
    const int64_t left = search->rows - first, rows = left < SHARING ? left : SHARING, stride = vocabulary + AHEAD;
    const int8_t *legal[SHARING];
    const char *queries[SHARING];
    Keys keys = {room->keys, 0};
    for (int64_t i = 0; i < SHARING; i++) { /* rows that are missing repeat the last one */
        const int64_t row = first + (i < rows ? i : rows - 1);
        legal[i] = search->legal + row * vocabulary;
        queries[i] = normed + row * bytes;
    }
    for (int64_t i = 0; i < search->tokens.count; i++) { /* without a branch, which would often be predicted wrong */
        const int64_t token = search->tokens.tokens[i];
        room->tokens[keys.count] = token;
        room->place[token] = keys.count;
        keys.at[keys.count] = by->output + token * bytes;
        keys.count += (legal[0][token] | legal[1][token] | legal[2][token] | legal[3][token]) != 0;
    }
    end_keys(&keys);
    if (rows > 1) NAME(multiply)(queries, SHARING, keys.at, keys.count, 0, 0, 0, room->products, stride, dim, half);
    else NAME(multiply)(queries, 1, keys.at, keys.count, 0, 0, 0, room->products, stride, dim, half);
    for (int64_t row = 0; row < rows; row++) {
        const Hypothesis *from = search->now + first + row;
        float *scores = room->products + row * stride, most = DEAD, sum = 0.0f;
        for (int64_t i = 0; half && i < keys.count; i++) scores[i] = widen(round_to_half(scores[i]));
        const char *problem =
            by->entries ? NAME(add_prior)(search, &from->state, keys.count, room, scores, half) : NULL;
        if (by->arcs && !problem)
            problem = NAME(add_functions)(search, &from->state, legal[row], queries[row], room, scores, half);
        if (problem) return problem;
        if (!NAME(finite)(scores, keys.count)) return "scores are not finite";
        for (int64_t i = 0; i < keys.count; i++)
            if (legal[row][room->tokens[i]]) most = fmaxf(most, scores[i]);
        for (int64_t i = 0; i < keys.count; i++)
            sum += legal[row][room->tokens[i]] ? NAME(exp_of)(scores[i] - most) : 0.0f;
        const float all = most + logf(sum);
        for (int64_t i = 0; i < keys.count; i++) {
            const float added = scores[i] - all;
            if (legal[row][room->tokens[i]] > 0)
                NAME(keep_best)(search->best, search->beam, &search->count,
                                (Continued){from->total + added, added, first + row, room->tokens[i]});
        }
    }
    return NULL;
}

/* Find the best continuations of the hypotheses of a search. Return NULL, or a message about wrong arguments. */
static const char *NAME(continuations)(AmrSearch *search, const char *normed, const ScoreRoom *room) {
    const char *problem = NULL;
    search->count = 0;
    for (int64_t first = 0; first < search->rows && !problem; first += SHARING)
        problem = search->network->half ? NAME(continued)(search, first, normed, room, 1)
                                        : NAME(continued)(search, first, normed, room, 0);
    return problem;
}
