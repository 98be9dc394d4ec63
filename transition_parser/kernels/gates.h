/* One step of gated passes over sentences, compiled once for each kind of processor; see kernels.c. */

/* Return the sigmoid of x. It is computed from exp(−|x|), which does not overflow. */
INLINE float NAME(sigmoid_of)(float x) {
    const float power = NAME(exp_of)(-fabsf(x)), share = 1.0f / (1.0f + power);
    return x < 0.0f ? power * share : share;
}

/* Return before + sigmoid(attention) (tanh(x) − before), with one division for the sigmoid and the tanh. */
INLINE float NAME(after_gate)(float before, float attention, float x) {
    const float power = NAME(exp_of)(-fabsf(attention)), square = NAME(exp_of)(-2.0f * fabsf(x));
    const float change = copysignf(1.0f - square, x) - before * (1.0f + square);
    return before + (attention < 0.0f ? power : 1.0f) * change / ((1.0f + power) * (1.0f + square));
}

/* Add 2 LANES numbers of x and y. Return 1 if a sum is not finite, else 0. */
INLINE int NAME(add_up)(const char *x, const char *y, float *sums, const int half) {
    const NAME(Pair) one = NAME(load)(x, half), other = NAME(load)(y, half);
    *(NAME(Floats) *)sums = one.a + other.a;
    *(NAME(Floats) *)(sums + LANES) = one.b + other.b;
    return !NAME(finite)(sums, 2 * LANES);
}

INLINE int NAME(step_of_row)(const Gates *gates, const char *found, const char *recurrent, const char *words,
                             char *output, const int half) {
    const int64_t step = 2 * LANES * (half ? 2 : 4), all = gates->width * (half ? 2 : 4);
    int infinite = 0;
    for (int64_t at = 0; at < all; at += step) {
        float attention[2 * LANES], reset[2 * LANES], told[2 * LANES], kept[2 * LANES], before[2 * LANES];
        const NAME(Pair) new = NAME(load)(words + 2 * all + at, half), old = NAME(load)(found + at, half);
        const NAME(Pair) remembered = NAME(load)(recurrent + 2 * all + at, half);
        infinite |= NAME(add_up)(words + at, recurrent + at, attention, half);
        infinite |= NAME(add_up)(words + all + at, recurrent + all + at, reset, half);
        /* The sums of this call are not used: the call checks that both terms are finite. */
        infinite |= NAME(add_up)(words + 2 * all + at, recurrent + 2 * all + at, told, half);
        *(NAME(Floats) *)told = new.a, *(NAME(Floats) *)(told + LANES) = new.b;
        *(NAME(Floats) *)kept = remembered.a, *(NAME(Floats) *)(kept + LANES) = remembered.b;
        *(NAME(Floats) *)before = old.a, *(NAME(Floats) *)(before + LANES) = old.b;
        infinite |= !NAME(finite)(before, 2 * LANES);
        for (int i = 0; i < 2 * LANES; i++) {
            const float x = told[i] + NAME(sigmoid_of)(reset[i]) * kept[i];
            before[i] = NAME(after_gate)(before[i], attention[i], x);
        }
        const NAME(Pair) after = {*(NAME(Floats) *)before, *(NAME(Floats) *)(before + LANES)};
        NAME(store)(output + at, after, half);
    }
    return infinite;
}

static const char *NAME(gated_step)(const void *job, const Share *share) {
    const Gates *gates = job;
    const int half = gates->half;
    const int64_t bytes = gates->width * (half ? 2 : 4);
    int infinite = 0;
    for (int64_t place = share->first; place < share->end; place++) {
        const int64_t pass = place / gates->rows, row = place % gates->rows;
        const char *found = gates->found + pass * gates->found_stride * (half ? 2 : 4);
        const char *words = gates->words + pass * gates->words_stride * (half ? 2 : 4);
        infinite |= NAME(step_of_row)(gates, found + row * bytes, gates->recurrent + place * 3 * bytes,
                                      words + row % gates->read * 3 * bytes, gates->output + place * bytes, half);
    }
    return infinite ? "an attention of the rescans is not finite" : NULL;
}
