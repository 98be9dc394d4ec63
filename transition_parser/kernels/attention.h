/* Attention kernels, compiled once for each kind of processor; see kernels.c. */

/* Compute the products of some queries with `count` keys of one head. Each key that is read serves all queries. The order
   of additions does not depend on the number of queries.

   number: the number of queries, 1 or SHARING
   keys: the keys, followed by AHEAD pointers that may be read from
   offset: the bytes in each key before the numbers of the head
   all: the bytes from a key to its value
   near: 1 to fetch the values into the processor's cache, where they stay until they are read; 0 to fetch the next keys
   products: (number, stride); the result; `stride` is at least `count` + 3 */
INLINE void NAME(multiply)(const char *const *queries, const int number, const char *const *keys, int64_t count,
                           int64_t offset, int64_t all, const int near, float *products, int64_t stride, const int64_t d,
                           const int half) {
    const int64_t step = 2 * LANES, size = half ? 2 : 4;
    for (int64_t k = 0; k < count; k += 4) {
        const char *four[4], *next[4];
        NAME(Floats) sum[SHARING][4];
        for (int j = 0; j < 4; j++) {
            four[j] = keys[k + j] + offset;
            next[j] = near ? four[j] + all : keys[k + j + AHEAD - 4] + offset;
            for (int i = 0; i < number; i++) sum[i][j] = (NAME(Floats)){0};
        }
        for (int64_t at = 0; at < d * size; at += step * size) {
            NAME(Pair) key[4];
            for (int j = 0; j < 4; j++) {
                key[j] = NAME(load)(four[j] + at, half);
                __builtin_prefetch(next[j] + at);
            }
            for (int i = 0; i < number; i++) {
                const NAME(Pair) q = NAME(load)(queries[i] + at, half);
                for (int j = 0; j < 4; j++) sum[i][j] += q.a * key[j].a + q.b * key[j].b;
            }
        }
        for (int i = 0; i < number; i++)
            NAME(sums)(sum[i][0], sum[i][1], sum[i][2], sum[i][3], products + i * stride + k);
    }
}

/* Compute the scores of keys, which are their scaled products with the query. */
INLINE void NAME(score)(const char *query, const char *const *keys, int64_t count, int64_t offset, int64_t all,
                        const int near, float *scores, const int64_t d, const int half) {
    const float scale = 1.0f / sqrtf((float)d);
    NAME(multiply)(&query, 1, keys, count, offset, all, near, scores, 0, d, half);
    for (int64_t k = 0; k < count; k++) scores[k] *= scale;
}

/* Change scores into weights that sum to 1. Return 1 if the scores are finite, else 0. */
INLINE int NAME(softmax)(float *scores, int64_t count) {
    if (!NAME(finite)(scores, count)) return 0;
    float most = scores[0], sum = 0.0f;
    for (int64_t i = 1; i < count; i++) most = fmaxf(most, scores[i]);
    for (int64_t i = 0; i < count; i++) sum += scores[i] = NAME(exp_of)(scores[i] - most);
    for (int64_t i = 0; i < count; i++) scores[i] /= sum;
    return 1;
}

/* Change four rows of finite scores into weights, each row with the sum 1.

   scores: (4, count); the scores of missing keys must be 0, and their weights become 0
   count: the length of a row, a multiple of LANES
   last: 1 for the keys that exist among the last LANES keys, 0 for missing keys */
INLINE void NAME(weigh_four)(float *scores, int64_t count, const NAME(Floats) last) {
    NAME(Floats) sum[4] = {{0}};
    float total[4];
    for (int row = 0; row < 4; row++) {
        float *own = scores + row * count, most[LANES];
        NAME(Floats) *end = (NAME(Floats) *)(own + count - LANES);
        *end += own[0] * (1.0f - last);
        memcpy(most, own, sizeof most);
        for (int64_t k = LANES; k < count; k += LANES)
            for (int i = 0; i < LANES; i++) most[i] = fmaxf(most[i], own[k + i]);
        for (int wide = LANES / 2; wide; wide /= 2)
            for (int i = 0; i < wide; i++) most[i] = fmaxf(most[i], most[i + wide]);
        for (int64_t k = 0; k < count; k += LANES) {
            for (int i = 0; i < LANES; i++) own[k + i] = NAME(exp_of)(own[k + i] - most[0]);
            if (k == count - LANES) *end *= last;
            sum[row] += *(NAME(Floats) *)(own + k);
        }
    }
    NAME(sums)(sum[0], sum[1], sum[2], sum[3], total);
    for (int row = 0; row < 4; row++) {
        const float share = 1.0f / total[row];
        for (int64_t k = 0; k < count; k += LANES) *(NAME(Floats) *)(scores + row * count + k) *= share;
    }
}

/* Add the weighted values of a part of one head to `sums`: 2 LANES × `parts` numbers, from `offset` bytes on. */
INLINE void NAME(gather_parts)(const float *weights, const char *const *values, int64_t count, int64_t offset,
                               const int near, float *sums, const int parts, const int half) {
    const int64_t step = 2 * LANES, bytes = step * (half ? 2 : 4);
    NAME(Pair) sum[2];
    for (int i = 0; i < parts; i++) sum[i] = NAME(load)((char *)(sums + i * step), 0);
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < parts; i++) {
            const NAME(Pair) x = NAME(load)(values[k] + offset + i * bytes, half);
            if (!near) {
                __builtin_prefetch(values[k + AHEAD - 4] + offset + i * bytes);
                __builtin_prefetch(values[k + AHEAD - 4] + offset + i * bytes + bytes / 2);
            }
            sum[i].a += weights[k] * x.a;
            sum[i].b += weights[k] * x.b;
        }
    for (int i = 0; i < parts; i++) NAME(store)((char *)(sums + i * step), sum[i], 0);
}

/* Add the weighted values of one head to `sums` (d). Four chains of additions hide their latency. */
INLINE void NAME(gather)(const float *weights, const char *const *values, int64_t count, int64_t offset, const int near,
                         float *sums, const int64_t d, const int half) {
    const int64_t step = 2 * LANES, size = half ? 2 : 4;
    int64_t at = 0;
    for (; at + step < d; at += 2 * step)
        NAME(gather_parts)(weights, values, count, offset + at * size, near, sums + at, 2, half);
    if (at < d) NAME(gather_parts)(weights, values, count, offset + at * size, near, sums + at, 1, half);
}

/* Compute the attention of a block of queries to the same keys. Return NULL, or a message about scores that are not
   finite.

   A few keys at a time stay in the processor's cache for all queries and heads. The order of additions does not depend
   on the number of queries and heads.

   added: keys whose scores are added to the scores of `keys`; NULL to add nothing */
INLINE const char *NAME(attend)(const Block *block, const Keys *keys, const Keys *added, const Room *room,
                                const int64_t d, const int half) {
    const int64_t one = d * (half ? 2 : 4), all = block->all, stride = keys->count + 3, pairs = 2 * LANES;
    const int near = keys->count * 2 * all <= NEAR;
    float *scores = room->scores, *more = scores + block->queries * block->heads * stride, *sums = room->sums;
    for (int64_t first = 0; first < keys->count; first += TILE) {
        const int64_t count = keys->count - first < TILE ? keys->count - first : TILE;
        for (int64_t query = 0, i = first; query < block->queries; query++) {
            for (int64_t head = block->head; head < block->head + block->heads; head++, i += stride) {
                const int64_t offset = head * one;
                const char *from = block->query + query * all + offset;
                NAME(score)(from, keys->at + first, count, offset, all, near, scores + i, d, half);
                if (added) NAME(score)(from, added->at + first, count, offset, 0, 1, more + i, d, half);
            }
        }
    }
    for (int64_t i = 0; i < block->queries * block->heads && keys->count; i++, scores += stride, more += stride) {
        for (int64_t k = 0; added && k < keys->count; k++) scores[k] += more[k];
        if (!NAME(softmax)(scores, keys->count)) return "the scores of attention are not finite";
    }
    memset(sums, 0, sizeof *sums * block->queries * block->heads * d);
    for (int64_t first = 0; first < keys->count; first += TILE) {
        const int64_t count = keys->count - first < TILE ? keys->count - first : TILE;
        scores = room->scores + first;
        sums = room->sums;
        for (int64_t query = 0; query < block->queries; query++)
            for (int64_t head = block->head; head < block->head + block->heads; head++, scores += stride, sums += d)
                NAME(gather)(scores, keys->at + first, count, all + head * one, near, sums, d, half);
    }
    sums = room->sums;
    for (int64_t query = 0; query < block->queries; query++) {
        char *output = block->output + query * all + block->head * one;
        for (int64_t i = 0; i < block->heads * d; i += pairs, output += pairs * (half ? 2 : 4), sums += pairs)
            NAME(store)(output, NAME(load)((char *)sums, 0), half);
    }
    return NULL;
}

static const char *NAME(attend_as)(const Network *by, const Block *block, const Keys *keys, const Keys *added,
                                   const Room *room) {
    return SPECIALISE(by->half, by->d, NAME(attend), block, keys, added, room);
}

/* Let the hypotheses of a search attend to their actions so far. Return NULL, or a message about scores that are not
   finite.

   newest: (rows, 2 dim); the keys and values of the last actions, which are stored
   query, output: (rows, dim) */
static const char *NAME(past)(const AmrSearch *search, int64_t layer, const char *newest, const char *query,
                              char *output, const Room *room) {
    const Network *by = search->network;
    const int64_t all = by->heads * by->d * (by->half ? 2 : 4);
    for (int64_t row = 0; row < search->rows; row++) {
        const Action *action = search->now[row].last;
        Keys keys = {room->every, search->step + 1};
        memcpy(action->keys + layer * action->stride, newest + row * 2 * all, 2 * all);
        for (int64_t step = search->step; step >= 0; step--, action = (const Action *)action->step.before)
            keys.at[step] = action->keys + layer * action->stride;
        end_keys(&keys);
        const Block block = {query + row * all, output + row * all, 1, 0, by->heads, all};
        const char *problem = NAME(attend_as)(by, &block, &keys, NULL, room);
        if (problem) return problem;
    }
    return NULL;
}

/* Let the hypotheses of a search attend to the words of their sentence. Return NULL, or a message about scores that are
   not finite. The output is 0 for a head that sees no word.

   query, output: (rows, dim) */
static const char *NAME(words)(const AmrSearch *search, int64_t layer, const char *query, char *output,
                               const Room *room) {
    const Network *by = search->network;
    const int64_t all = by->heads * by->d * (by->half ? 2 : 4), ranks = search->words + 1;
    const char *memory = by->memories[layer] + search->sentence * by->words * 2 * all, *positions = by->positions[layer];
    Keys every = {room->every, by->lengths[search->sentence]};
    for (int64_t word = 0; word < every.count; word++) every.at[word] = memory + word * 2 * all;
    end_keys(&every);
    for (int64_t row = 0, count; row < search->rows; row += count) {
        count = search->rows - row < BLOCK ? search->rows - row : BLOCK;
        for (int64_t head = 0, heads; head < by->heads; head += heads) {
            for (heads = 1; head + heads < by->heads && by->roles[head + heads] == by->roles[head]; heads++) {
            }
            Block block = {query + row * all, output + row * all, count, head, heads, all};
            const int32_t role = by->roles[head];
            const char *problem = role < 0 ? NAME(attend_as)(by, &block, &every, NULL, room) : NULL;
            block.queries = 1;
            for (int64_t i = 0; role >= 0 && i < count && !problem; i++, block.query += all, block.output += all) {
                Keys keys = {room->ranked, 0}, added = {room->added, 0};
                keys_of_role(search, search->ranks[role] + (row + i) * ranks, role, &every, positions, all, &keys,
                             &added);
                problem = NAME(attend_as)(by, &block, &keys, positions ? &added : NULL, room);
            }
            if (problem) return problem;
        }
    }
    return NULL;
}

/* Copy the keys (or values) of one head of a sentence, in single precision and in the order of `load`.

   The keys of the next head are fetched into the processor's cache, because they are read next.

   stride: the bytes from one key to the next
   numbers: 0 to write key by key; else the number of keys that `to` has room for, to write number by number */
INLINE void NAME(spread)(const char *from, int64_t count, int64_t stride, int64_t numbers, float *to, const int64_t d,
                         const int half) {
    const int64_t step = 2 * LANES, size = half ? 2 : 4;
    for (int64_t k = 0; k < count; k++) {
        for (int64_t at = 0; at < d * size; at += 64) __builtin_prefetch(from + k * stride + d * size + at);
        for (int64_t at = 0; at < d; at += step) {
            float some[2 * LANES];
            NAME(store)((char *)(numbers ? some : to + k * d + at), NAME(load)(from + k * stride + at * size, half), 0);
            for (int i = 0; numbers && i < 2 * LANES; i++) to[(at + i) * numbers + k] = some[i];
        }
    }
}

/* Compute the self-attention of one head of a sentence of `count` words. Return NULL, or a message about wrong
   arguments.

   SHARING queries at a time use each key that is read, and LANES keys are scored at once. The order of additions
   depends on `count` only. */
INLINE const char *NAME(head_of_sentence)(const Sentences *in, int64_t first, int64_t count, int64_t head, float *room,
                                          const int64_t d, const int half) {
    const int64_t size = half ? 2 : 4, step = 2 * LANES, wide = in->heads * d;
    const int64_t padded = (count + LANES - 1) / LANES * LANES;
    float *keys = room, *values = keys + d * padded, *query = values + count * d, *scores = query + SHARING * d;
    memset(keys, 0, sizeof *keys * d * padded);
    NAME(spread)(in->keys + (first * in->key_stride + head * d) * size, count, in->key_stride * size, padded, keys, d,
                 half);
    NAME(spread)(in->values + (first * in->value_stride + head * d) * size, count, in->value_stride * size, 0, values,
                 d, half);
    const float scale = 1.0f / sqrtf((float)d);
    float last[LANES];
    for (int i = 0; i < LANES; i++) last[i] = padded - LANES + i < count ? 1.0f : 0.0f;
    for (int64_t word = 0; word < count; word += SHARING) {
        const int64_t there = count - word < SHARING ? count - word : SHARING;
        NAME(spread)(in->query + ((first + word) * in->query_stride + head * d) * size, there, in->query_stride * size,
                     0, query, d, half);
        memset(query + there * d, 0, sizeof *query * (SHARING - there) * d);
        for (int64_t k = 0; k < padded; k += LANES) {
            NAME(Floats) sum[SHARING] = {{0}};
            for (int64_t at = 0; at < d; at++) {
                const NAME(Floats) key = *(const NAME(Floats) *)(keys + at * padded + k);
                for (int i = 0; i < SHARING; i++) sum[i] += query[i * d + at] * key;
            }
            for (int i = 0; i < SHARING; i++) *(NAME(Floats) *)(scores + i * padded + k) = sum[i] * scale;
        }
        if (!NAME(finite)(scores, SHARING * padded)) return "the scores of attention are not finite";
        NAME(weigh_four)(scores, padded, *(NAME(Floats) *)last);
        for (int64_t at = 0; at < d; at += step) {
            NAME(Pair) sum[SHARING] = {{{0}, {0}}};
            for (int64_t k = 0; k < count; k++) {
                const NAME(Pair) value = NAME(load)((char *)(values + k * d + at), 0);
                for (int i = 0; i < SHARING; i++) {
                    sum[i].a += scores[i * padded + k] * value.a;
                    sum[i].b += scores[i * padded + k] * value.b;
                }
            }
            for (int64_t i = 0; i < there; i++)
                NAME(store)(in->output + ((first + word + i) * wide + head * d + at) * size, sum[i], half);
        }
    }
    return NULL;
}

/* Compute one share of self-attention within sentences. Return NULL, or a message about wrong arguments. */
INLINE const char *NAME(sentences)(const Sentences *in, const Share *share, const int64_t d, const int half) {
    const int64_t most = in->longest + LANES;
    const char *problem = NULL;
    float *room = malloc(sizeof *room * (2 * d * most + SHARING * (d + most)));
    if (!room) return NO_MEMORY;
    for (int64_t sentence = share->first; sentence < share->end && !problem; sentence++) {
        const int64_t first = in->first[sentence], count = in->lengths[sentence];
        if (OUTSIDE(count, in->longest + 1) || OUTSIDE(first, in->rows + 1) || first + count > in->rows)
            problem = "first or lengths: beyond the words that there are";
        for (int64_t head = share->head; head < in->heads && !problem; head += share->step)
            problem = NAME(head_of_sentence)(in, first, count, head, room, d, half);
    }
    free(room);
    return problem;
}

static const char *NAME(self_attention)(const void *job, const Share *share) {
    const Sentences *in = job;
    return SPECIALISE(in->half, in->d, NAME(sentences), in, share);
}
