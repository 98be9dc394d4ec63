/* The maxima of convolutions over the letters of words, compiled once for each kind of processor; see
   kernels.c. */

#define LETTERS_TOGETHER 4 /* the number of vectors of filters whose sums are in registers */

/* Compute the maxima of LETTERS_TOGETHER vectors of filters of one convolution, over the letters of one word.

   table: (size, symbols, filters), from the first of these filters on; the product of each letter with the weights
   letters: the `count` letters of the word */
INLINE void NAME(largest)(const Letters *in, int64_t size, const float *table, const float *bias,
                          const int16_t *letters, int64_t count, float *output) {
    NAME(Floats) most[LETTERS_TOGETHER] = {0};
    for (int64_t place = 0; place < count; place++) {
        const int64_t start = place - size / 2;
        const int64_t from = start < 0 ? -start : 0, to = start + size > count ? count - start : size;
        NAME(Floats) sums[LETTERS_TOGETHER];
        for (int i = 0; i < LETTERS_TOGETHER; i++) sums[i] = *(const NAME(Floats) *)(bias + i * LANES);
        for (int64_t k = from; k < to; k++) {
            const float *row = table + (k * in->symbols + letters[start + k]) * in->filters;
            for (int i = 0; i < LETTERS_TOGETHER; i++) sums[i] += *(const NAME(Floats) *)(row + i * LANES);
        }
        for (int i = 0; i < LETTERS_TOGETHER; i++) {
            const NAME(Bits) more = (NAME(Bits))(sums[i] > most[i]);
            most[i] = (NAME(Floats))(((NAME(Bits))sums[i] & more) | ((NAME(Bits))most[i] & ~more));
        }
    }
    for (int i = 0; i < LETTERS_TOGETHER; i++) *(NAME(Floats) *)(output + i * LANES) = most[i];
}

static const char *NAME(letter_maxima)(const void *job, const Share *share) {
    const Letters *in = job;
    for (int64_t word = share->first; word < share->end; word++) {
        int16_t letters[MOST_LETTERS];
        int64_t count = 0;
        for (; count < in->most && in->letters[word * in->most + count]; count++) {
            const int64_t letter = in->letters[word * in->most + count];
            if (OUTSIDE(letter, in->symbols)) return "letters: beyond the symbols that there are";
            letters[count] = (int16_t)letter;
        }
        const float *table = in->tables;
        for (int64_t i = 0; i < in->windows; table += in->sizes[i++] * in->symbols * in->filters)
            for (int64_t first = 0; first < in->filters; first += LETTERS_TOGETHER * LANES)
                NAME(largest)(in, in->sizes[i], table + first, in->biases + i * in->filters + first, letters, count,
                              in->output + (word * in->windows + i) * in->filters + first);
    }
    return NULL;
}
#undef LETTERS_TOGETHER
