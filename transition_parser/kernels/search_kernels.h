/* The part of search_kernels.c that is compiled once for each kind of processor. NAME(x): the name of x there. LANES:
   how many numbers a vector has. */

typedef float NAME(Floats) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef uint32_t NAME(Bits) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* Numbers are read and written two vectors at a time: of bfloat16 the even and the odd ones, of float the first and the
   last. Which is which makes no difference to sums over products. */
typedef struct {
    NAME(Floats) a, b;
} NAME(Pair);

INLINE NAME(Pair) NAME(load)(const char *from, const int half) {
    if (half) {
        NAME(Bits) bits = *(const NAME(Bits) *)from;
        return (NAME(Pair)){(NAME(Floats))(bits << 16), (NAME(Floats))(bits & 0xffff0000u)};
    }
    return (NAME(Pair)){*(const NAME(Floats) *)from, *((const NAME(Floats) *)from + 1)};
}

INLINE NAME(Bits) NAME(rounded)(NAME(Floats) x) { /* to the nearest bfloat16, ties to even */
    NAME(Bits) bits = (NAME(Bits))x;
    return bits + 0x7fffu + (bits >> 16 & 1u);
}

INLINE void NAME(store)(char *to, NAME(Pair) x, const int half) {
    if (half) {
        *(NAME(Bits) *)to = (NAME(rounded)(x.a) >> 16) | (NAME(rounded)(x.b) & 0xffff0000u);
    } else {
        *(NAME(Floats) *)to = x.a;
        *((NAME(Floats) *)to + 1) = x.b;
    }
}

/* The sums of four vectors. */
INLINE void NAME(sums)(NAME(Floats) w, NAME(Floats) x, NAME(Floats) y, NAME(Floats) z, float *sums) {
#if LANES == 16
    w = SHUFFLE(w, x, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        SHUFFLE(w, x, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    y = SHUFFLE(y, z, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
        SHUFFLE(y, z, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    w = SHUFFLE(w, y, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
        SHUFFLE(w, y, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    w += SHUFFLE(w, w, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    w += SHUFFLE(w, w, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif LANES == 8
    w = SHUFFLE(w, x, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(w, x, 4, 5, 6, 7, 12, 13, 14, 15);
    y = SHUFFLE(y, z, 0, 1, 2, 3, 8, 9, 10, 11) + SHUFFLE(y, z, 4, 5, 6, 7, 12, 13, 14, 15);
    w = SHUFFLE(w, y, 0, 1, 4, 5, 8, 9, 12, 13) + SHUFFLE(w, y, 2, 3, 6, 7, 10, 11, 14, 15);
    w += SHUFFLE(w, w, 1, 0, 3, 2, 5, 4, 7, 6);
#else
    w = SHUFFLE(w, x, 0, 1, 4, 5) + SHUFFLE(w, x, 2, 3, 6, 7);
    y = SHUFFLE(y, z, 0, 1, 4, 5) + SHUFFLE(y, z, 2, 3, 6, 7);
    w = SHUFFLE(w, y, 0, 2, 4, 6) + SHUFFLE(w, y, 1, 3, 5, 7);
#endif
    for (int i = 0; i < 4; i++) sums[i] = w[LANES / 4 * i];
}

/* exp(x) for x ≤ 0, relative error below 2e-7 */
INLINE float NAME(exp_of)(float x) {
    x = fmaxf(x * 1.44269504f, -126.0f);
    float whole = floorf(x), part = x - whole;
    float power = 1.5403530e-4f;
    power = power * part + 1.3333558e-3f;
    power = power * part + 9.6181291e-3f;
    power = power * part + 5.5504109e-2f;
    power = power * part + 2.4022651e-1f;
    power = power * part + 6.9314718e-1f;
    power = power * part + 1.0f;
    int32_t bits = ((int32_t)whole + 127) << 23;
    float scale;
    __builtin_memcpy(&scale, &bits, sizeof scale);
    return power * scale;
}

/* Scores of `count` keys to weights that sum to 1. */
INLINE void NAME(softmax)(float *scores, int64_t count) {
    float most = scores[0], sum = 0.0f;
    for (int64_t i = 1; i < count; i++) most = fmaxf(most, scores[i]);
    for (int64_t i = 0; i < count; i++) sum += scores[i] = NAME(exp_of)(scores[i] - most);
    for (int64_t i = 0; i < count; i++) scores[i] /= sum;
}

/* Scores of `count` keys of one head, which begins `offset` bytes into each; values stand `all` bytes behind keys.
   `scores` has logits for three more. */
INLINE void NAME(score)(const char *query, const char *const *keys, int64_t count, int64_t offset, int64_t all,
                        float *scores, const int64_t d, const int half) {
    const int64_t step = 2 * LANES, size = half ? 2 : 4;
    const float scale = 1.0f / sqrtf((float)d);
    for (int64_t k = 0; k < count; k += 4) {
        const char *four[4];
        NAME(Floats) sum[4];
        for (int i = 0; i < 4; i++) {
            four[i] = keys[k + i < count ? k + i : count - 1] + offset;
            sum[i] = (NAME(Floats)){0};
        }
        for (int64_t at = 0; at < d * size; at += step * size) {
            NAME(Pair) q = NAME(load)(query + at, half);
            for (int i = 0; i < 4; i++) {
                NAME(Pair) key = NAME(load)(four[i] + at, half);
                __builtin_prefetch(four[i] + at + all); /* the values, which come next */
                sum[i] += q.a * key.a + q.b * key.b;
            }
        }
        NAME(sums)(sum[0], sum[1], sum[2], sum[3], scores + k);
    }
    for (int64_t k = 0; k < count; k++) scores[k] *= scale;
}

/* The sum of the values of one head by their weights. */
INLINE void NAME(gather)(const float *weights, const char *const *values, int64_t count, int64_t offset, char *output,
                         const int64_t d, const int half) {
    const int64_t step = 2 * LANES, size = half ? 2 : 4;
    int64_t at = 0;
    for (; at + step * size < d * size; at += 2 * step * size) { /* four chains of additions hide their latency */
        NAME(Pair) first = {{0}, {0}}, second = {{0}, {0}};
        for (int64_t k = 0; k < count; k++) {
            NAME(Pair) x = NAME(load)(values[k] + offset + at, half);
            NAME(Pair) y = NAME(load)(values[k] + offset + at + step * size, half);
            first.a += weights[k] * x.a;
            first.b += weights[k] * x.b;
            second.a += weights[k] * y.a;
            second.b += weights[k] * y.b;
        }
        NAME(store)(output + at, first, half);
        NAME(store)(output + at + step * size, second, half);
    }
    for (; at < d * size; at += step * size) {
        NAME(Pair) first = {{0}, {0}};
        for (int64_t k = 0; k < count; k++) {
            NAME(Pair) x = NAME(load)(values[k] + offset + at, half);
            first.a += weights[k] * x.a;
            first.b += weights[k] * x.b;
        }
        NAME(store)(output + at, first, half);
    }
}

INLINE void NAME(past)(const Past *past, const char **keys, float *scores, const int64_t d, const int half) {
    const int64_t one = d * (half ? 2 : 4), all = past->heads * one; /* bytes of a head, and of all */
    for (int64_t query = 0; query < past->queries; query++) {
        int64_t ancestor = past->rows ? past->rows[query] : query;
        for (int64_t step = past->steps - 1; step >= 0; step--) {
            const int64_t stored = past->cache_row ? past->cache_row[step][ancestor] : ancestor;
            keys[step] = past->cache[step] + stored * 2 * all;
            if (past->origin[step]) ancestor = past->origin[step][ancestor];
        }
        for (int64_t head = 0; head < past->heads; head++) {
            const int64_t offset = head * one;
            NAME(score)(past->query + query * all + offset, keys, past->steps, offset, all, scores, d, half);
            NAME(softmax)(scores, past->steps);
            NAME(gather)(scores, keys, past->steps, all + offset, past->output + query * all + offset, d, half);
        }
    }
}

static void NAME(cached_self_attention)(const Past *past, const char **keys, float *scores, int64_t d, int half) {
    SPECIALISE(NAME(past), past, keys, scores)
}

INLINE void NAME(words)(const Words *words, const char **keys, float *scores, const int64_t d, const int half) {
    const int64_t one = d * (half ? 2 : 4), all = words->heads * one; /* bytes of a head, and of all */
    const char **added = keys + words->width;
    float *more = scores + words->width + 3;
    for (int64_t number = 0; number < words->queries; number++) {
        const int64_t row = words->rows ? words->rows[number] : number;
        const int64_t sentence = words->sentence[row], length = words->lengths[sentence];
        const char *memory = words->memory + sentence * words->width * 2 * all;
        for (int64_t head = 0; head < words->heads; head++) {
            const int64_t role = words->roles[head], offset = head * one;
            const int64_t *ranks = role < 0 ? NULL : words->ranks[role] + row * words->stride;
            const char *query = words->query + number * all + offset;
            const char *positions = ranks ? words->positions : NULL;
            int64_t count = 0;
            for (int64_t word = 0; word < length; word++) {
                if (ranks && (ranks[word] == 0 || (words->window && ranks[word] > words->window))) continue;
                if (positions) {
                    const int64_t k = ranks[word] < words->largest ? ranks[word] : words->largest;
                    added[count] = positions + (role * (words->largest + 1) + k) * all;
                }
                keys[count++] = memory + word * 2 * all;
            }
            if (count) {
                NAME(score)(query, keys, count, offset, all, scores, d, half);
                if (positions) {
                    NAME(score)(query, added, count, offset, 0, more, d, half);
                    for (int64_t k = 0; k < count; k++) scores[k] += more[k];
                }
                NAME(softmax)(scores, count);
            }
            NAME(gather)(scores, keys, count, all + offset, words->output + number * all + offset, d, half);
        }
    }
}

static void NAME(cross_attention)(const Words *words, const char **keys, float *scores, int64_t d, int half) {
    SPECIALISE(NAME(words), words, keys, scores)
}

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
            one = NAME(load)(x + at, half); /* as it is stored */
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

INLINE void NAME(continue_all)(const Continuations *c, float *logits, const int half) {
    const int64_t actions = c->actions, beam = c->beam;
    for (int64_t sentence = 0; sentence < c->sentences; sentence++) {
        float *best = c->best + sentence * beam, *added = c->added + sentence * beam;
        int64_t *index = c->index + sentence * beam, count = 0;
        for (int64_t w = 0; w < c->width; w++) {
            const int64_t row = sentence * c->width + w, scored = c->scores_row[row];
            const float total = c->totals[row], *legal = c->legal + row * actions;
            if (total < DEAD) continue;
            const uint16_t *halves = (const uint16_t *)c->scores + scored * actions;
            const float *wholes = (const float *)c->scores + scored * actions;
            float most = DEAD, sum = 0.0f;
            for (int64_t i = 0; i < actions && scored < 0; i++) logits[i] = 0.0f;
            for (int64_t i = 0; i < actions && scored >= 0; i++) {
                const uint32_t bits = half ? (uint32_t)halves[i] << 16 : 0u;
                __builtin_memcpy(logits + i, half ? (const void *)&bits : (const void *)(wholes + i), sizeof *logits);
            }
            for (int64_t i = 0; i < actions; i++) {
                logits[i] = legal[i] > 0.0f ? logits[i] : 2.0f * DEAD;
                most = fmaxf(most, logits[i]);
            }
            for (int64_t i = 0; i < actions; i++) sum += NAME(exp_of)(logits[i] - most) * legal[i];
            const float least = most + logf(sum);
            for (int64_t i = 0; i < actions; i++) {
                if (logits[i] < DEAD || (count == beam && total + (logits[i] - least) <= best[beam - 1])) continue;
                const float score = total + (logits[i] - least);
                int64_t at = count < beam ? count++ : beam - 1;
                for (; at > 0 && best[at - 1] < score; at--) {
                    best[at] = best[at - 1];
                    added[at] = added[at - 1];
                    index[at] = index[at - 1];
                }
                best[at] = score;
                added[at] = logits[i] - least;
                index[at] = w * actions + i;
            }
        }
        for (; count < beam; count++) {
            best[count] = 2.0f * DEAD;
            added[count] = 0.0f;
            index[count] = 0;
        }
    }
}

static void NAME(best_continuations)(const Continuations *c, float *logits, int half) {
    if (half)
        NAME(continue_all)(c, logits, 1);
    else
        NAME(continue_all)(c, logits, 0);
}
