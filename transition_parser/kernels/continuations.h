/* Sums of rows with their layer norm, scores of legal actions, and the best continuations, compiled once for each kind
   of processor; see search_kernels.c. */

static void NAME(add_and_normalise)(int64_t rows, int64_t dim, char *x, const char *added, const char *weight,
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

/* Add the lexical prior of a row's span to the row's scores. Return NULL, or a message about wrong arguments. */
INLINE const char *NAME(add_prior)(const Output *output, int64_t row, char *scores, const int half) {
    const Prior *prior = &output->prior;
    const int64_t span = prior->spans[row];
    if (OUTSIDE(span, prior->rows)) return "spans: beyond the lexicon";
    const int64_t begin = prior->offsets[span], end = prior->offsets[span + 1];
    if (begin < 0 || begin > end || end > prior->entries) return "offsets: beyond the prior";
    for (int64_t at = begin; at < end; at++) {
        if (OUTSIDE(prior->tokens[at], output->vocabulary)) return "prior: beyond the vocabulary";
        const int32_t place = output->place[prior->tokens[at]];
        if (place < 0) continue;
        if (half) {
            uint16_t *score = (uint16_t *)scores + place;
            *score = round_to_half(widen(*score) + widen(((const uint16_t *)prior->values)[at]));
        } else {
            ((float *)scores)[place] += ((const float *)prior->values)[at];
        }
    }
    return NULL;
}

/* Compute the scores of `count` rows, at most SHARING. The weights of the actions that are legal in any of these rows
   become the keys. Return NULL, or a message about wrong arguments.

   first: the number of the first row of `output`
   hypotheses: the hypothesis of each row */
INLINE const char *NAME(score_rows)(const Output *output, int64_t first, int64_t count, const int64_t *hypotheses,
                                    const LegalRoom *room, const int half) {
    const int64_t size = half ? 2 : 4, bytes = output->dim * size, actions = output->actions, stride = actions + AHEAD;
    const float *legal[SHARING];
    const char *queries[SHARING];
    Keys keys = {room->weights, 0};
    for (int64_t i = 0; i < SHARING; i++) { /* rows that are missing repeat the last one */
        const int64_t there = i < count ? i : count - 1;
        legal[i] = output->legal + hypotheses[there] * actions;
        queries[i] = output->x + (first + there) * bytes;
    }
    for (int64_t i = 0; i < actions; i++) { /* without a branch, which would often be predicted wrong */
        int some = 0;
        for (int row = 0; row < SHARING; row++) some |= legal[row][i] != 0.0f;
        room->places[keys.count] = i;
        keys.at[keys.count] = output->weight + output->tokens[i] * bytes;
        keys.count += some;
    }
    end_keys(&keys);
    if (count > 1)
        NAME(multiply_four)(queries, keys.at, keys.count, room->products, stride, output->dim, half);
    else
        NAME(multiply)(queries[0], keys.at, keys.count, 0, 0, 0, room->products, output->dim, half);
    for (int64_t row = 0; row < count; row++) {
        char *scores = output->scores + (first + row) * actions * size;
        const float *products = room->products + row * stride;
        memset(scores, 0, actions * size);
        for (int64_t i = 0; i < keys.count; i++) {
            if (half)
                ((uint16_t *)scores)[room->places[i]] = round_to_half(products[i]);
            else
                ((float *)scores)[room->places[i]] = products[i];
        }
        const char *problem = output->prior.spans ? NAME(add_prior)(output, hypotheses[row], scores, half) : NULL;
        if (problem) return problem;
    }
    return NULL;
}

static const char *NAME(legal_scores)(const Output *output, int64_t first, int64_t count, const int64_t *hypotheses,
                                      const LegalRoom *room) {
    return output->half ? NAME(score_rows)(output, first, count, hypotheses, room, 1)
                        : NAME(score_rows)(output, first, count, hypotheses, room, 0);
}

/* Compute the log-probabilities of a row's actions. Return NULL, or a message about wrong arguments.

   logits: (actions); the result; below DEAD for actions whose legality is 0 or -1 */
INLINE const char *NAME(log_probabilities)(const Continuations *c, int64_t row, float *logits, const int half) {
    const int64_t actions = c->actions, scored = c->scores_row[row];
    const uint16_t *halves = (const uint16_t *)c->scores + scored * actions;
    const float *legal = c->legal + row * actions;
    float most = DEAD, sum = 0.0f;
    if (scored < 0) {
        memset(logits, 0, sizeof *logits * actions);
    } else if (half) {
        for (int64_t i = 0; i < actions; i++) logits[i] = widen(halves[i]);
    } else {
        memcpy(logits, (const float *)c->scores + scored * actions, sizeof *logits * actions);
    }
    if (!NAME(finite)(logits, actions)) return "scores are not finite";
    if (!NAME(is_legality)(legal, actions)) return "legal is neither 0 nor 1 nor -1";
    for (int64_t i = 0; i < actions; i++) {
        logits[i] = legal[i] != 0.0f ? logits[i] : 2.0f * DEAD;
        most = fmaxf(most, logits[i]);
    }
    if (most <= DEAD) return NULL; /* nothing is legal */
    for (int64_t i = 0; i < actions; i++) sum += NAME(exp_of)(logits[i] - most) * fabsf(legal[i]);
    const float all = most + logf(sum);
    for (int64_t i = 0; i < actions; i++) logits[i] = legal[i] > 0.0f ? logits[i] - all : 2.0f * DEAD;
    return NULL;
}

/* Find the best continuations of one sentence. Return NULL, or a message about wrong arguments. */
INLINE const char *NAME(continued)(const Continuations *c, int64_t sentence, float *logits, const int half) {
    const int64_t actions = c->actions, beam = c->beam;
    float *best = c->best + sentence * beam, *added = c->added + sentence * beam;
    int64_t *index = c->index + sentence * beam, count = 0;
    for (int64_t hypothesis = 0; hypothesis < c->width; hypothesis++) {
        const int64_t row = sentence * c->width + hypothesis;
        if (!NAME(finite)(c->totals + row, 1)) return "totals are not finite";
        const float total = c->totals[row];
        if (total < DEAD) continue;
        const char *problem = NAME(log_probabilities)(c, row, logits, half);
        if (problem) return problem;
        for (int64_t i = 0; i < actions; i++) {
            const float score = total + logits[i];
            if (logits[i] < DEAD || (count == beam && score <= best[beam - 1])) continue;
            int64_t at = count < beam ? count++ : beam - 1;
            for (; at > 0 && best[at - 1] < score; at--) {
                best[at] = best[at - 1];
                added[at] = added[at - 1];
                index[at] = index[at - 1];
            }
            best[at] = score;
            added[at] = logits[i];
            index[at] = hypothesis * actions + i;
        }
    }
    for (; count < beam; count++) {
        best[count] = 2.0f * DEAD;
        added[count] = 0.0f;
        index[count] = 0;
    }
    return NULL;
}

static const char *NAME(best_continuations)(const Continuations *c, float *logits) {
    const char *problem = NULL;
    for (int64_t sentence = 0; sentence < c->sentences && !problem; sentence++)
        problem = c->half ? NAME(continued)(c, sentence, logits, 1) : NAME(continued)(c, sentence, logits, 0);
    return problem;
}
