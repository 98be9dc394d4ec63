/* Whole beam search over dependency trees with a decoder that adds up vectors of words, compiled once for each kind of
   processor; see `search_trees` in kernels.c. */

/* Compute the log-probabilities of a hypothesis's legal actions. Return NULL, or a message about wrong arguments.

   legal: (columns); 1 for legal columns
   room->tokens, room->logits: the results, `count` of them */
INLINE const char *NAME(tree_actions)(const Trees *in, int64_t sentence, const TreeRow *row, const uint8_t *legal,
                                      const TreeRoom *room, int64_t *count, const int half) {
    const int64_t width = in->width, bytes = width * (half ? 2 : 4);
    float *sum = room->hidden;
    memset(sum, 0, sizeof *sum * width);
    for (int64_t place = 0; place < in->places; place++) {
        const int64_t rank = in->ranks[place], deep = rank > 0 ? row->depth : row->buffer_size;
        const int64_t from_end = rank > 0 ? rank : -rank;
        if (deep < from_end) continue;
        const int64_t found = (rank > 0 ? row->stack : row->buffer)[deep - from_end];
        if (OUTSIDE(found, in->positions)) return "words: there are fewer words";
        const float *vector = in->words + ((sentence * in->positions + found) * in->places + place) * width;
        for (int64_t i = 0; i < width; i++) sum[i] += vector[i];
    }
    for (int64_t i = 0; i < width; i++) sum[i] += in->bias[i];
    if (!NAME(finite)(sum, width)) return "scores are not finite";
    for (int64_t i = 0; i < width; i++) sum[i] = fmaxf(sum[i], 0.0f);
    uint16_t *rounded = (uint16_t *)(sum + width);
    for (int64_t i = 0; half && i < width; i++) rounded[i] = round_to_half(sum[i]);
    Keys keys = {room->weights, 0};
    for (int64_t token = 0; token < in->tokens; token++) {
        if (!legal[in->column[token]]) continue;
        room->tokens[keys.count] = token;
        keys.at[keys.count++] = in->weight + token * bytes;
    }
    *count = keys.count;
    if (!keys.count) return NULL;
    end_keys(&keys);
    const char *query = half ? (const char *)rounded : (const char *)sum;
    NAME(multiply)(&query, 1, keys.at, keys.count, 0, 0, 0, room->logits, 0, width, half);
    float most = DEAD, all = 0.0f;
    for (int64_t i = 0; i < keys.count; i++) {
        float score = room->logits[i] + in->token_bias[room->tokens[i]];
        if (half) score = widen(round_to_half(score));
        room->logits[i] = score;
        most = fmaxf(most, score);
    }
    if (!NAME(finite)(room->logits, keys.count)) return "scores are not finite";
    for (int64_t i = 0; i < keys.count; i++) all += NAME(exp_of)(room->logits[i] - most);
    all = most + logf(all);
    for (int64_t i = 0; i < keys.count; i++) room->logits[i] -= all;
    return NULL;
}

INLINE const char *NAME(tree_of_sentence)(const Trees *in, int64_t sentence, TreeBeam *beam, const TreeRoom *room,
                                          const int half) {
    const char *problem = first_row(in, sentence, beam);
    for (int64_t step = 0; beam->alive && !problem; step++) {
        if (step == in->found.most) return "search does not end";
        beam->count = 0;
        for (int64_t i = 0; i < beam->alive && !problem; i++) {
            const TreeRow *row = beam->rows[beam->now] + i;
            int64_t count;
            const uint8_t *legal = in->legal + row->situation * in->columns;
            problem = NAME(tree_actions)(in, sentence, row, legal, room, &count, half);
            for (int64_t k = 0; !problem && k < count; k++)
                NAME(keep_best)(beam->best, in->beam, &beam->count,
                                (Continued){row->total + room->logits[k], room->logits[k], i, room->tokens[k]});
        }
        if (!problem) problem = next_rows(in, sentence, step, beam);
    }
    return problem;
}

static const char *NAME(search_trees)(const void *job, const Share *share) {
    const Trees *in = job;
    const char *problem = NULL;
    const int64_t many = in->tokens + AHEAD;
    const char **weights = malloc(many * (sizeof *weights + sizeof(int64_t)) + (many + 2 * in->width) * sizeof(float));
    TreeBeam beam;
    if (!weights || !new_beam(in, &beam)) {
        free(weights);
        return NO_MEMORY;
    }
    int64_t *tokens = (int64_t *)(weights + many);
    float *logits = (float *)(tokens + many);
    const TreeRoom own = {weights, tokens, logits, logits + many};
    for (int64_t i = share->first; i < share->end && !problem; i++)
        problem = in->half ? NAME(tree_of_sentence)(in, i, &beam, &own, 1)
                           : NAME(tree_of_sentence)(in, i, &beam, &own, 0);
    free(beam.memory);
    free(weights);
    return problem;
}
