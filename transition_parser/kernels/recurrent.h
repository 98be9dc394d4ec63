/* Recurrent layers, compiled once for each kind of processor; see `recurrent_layer` in kernels.c. */

/* Return the sigmoid of x. It is computed from exp(−|x|), which does not overflow. */
INLINE float NAME(sigmoid_of)(float x) {
    const float power = NAME(exp_of)(-fabsf(x)), share = 1.0f / (1.0f + power);
    return x < 0.0f ? power * share : share;
}

INLINE float NAME(tanh_of)(float x) {
    const float square = NAME(exp_of)(-2.0f * fabsf(x));
    return copysignf((1.0f - square) / (1.0f + square), x);
}

/* Take one step of an LSTM, whose gates are, in this order: input, forget, new, output.

   word, recurrent: (4, width); the products of the word and of the state with their weights
   state, cell: (width); change in place */
static void NAME(lstm_step)(const float *restrict word, const float *restrict recurrent, float *restrict state,
                            float *restrict cell, int64_t width) {
    for (int64_t i = 0; i < width; i++) {
        const float in = word[i] + recurrent[i], kept = word[width + i] + recurrent[width + i];
        const float new = word[2 * width + i] + recurrent[2 * width + i];
        const float out = word[3 * width + i] + recurrent[3 * width + i];
        cell[i] = NAME(sigmoid_of)(kept) * cell[i] + NAME(sigmoid_of)(in) * NAME(tanh_of)(new);
        state[i] = NAME(sigmoid_of)(out) * NAME(tanh_of)(cell[i]);
    }
}

/* Take one step of a rescan, whose gates are, in this order: attention, reset, new; see `SequencePreservedAttention`. */
static void NAME(rescan_step)(const float *restrict word, const float *restrict recurrent, float *restrict state,
                              int64_t width) {
    for (int64_t i = 0; i < width; i++) {
        const float attention = word[i] + recurrent[i], reset = word[width + i] + recurrent[width + i];
        const float x = word[2 * width + i] + NAME(sigmoid_of)(reset) * recurrent[2 * width + i];
        state[i] += NAME(sigmoid_of)(attention) * (NAME(tanh_of)(x) - state[i]);
    }
}

/* Compute the passes of one direction over some sentences. Return NULL, or a message about wrong arguments.

   passes: (count); the passes, the longest first */
static const char *NAME(run_passes)(const Recurrent *in, int direction, const Pass *passes, int64_t count,
                                    const RecurrentRoom *room, NAME(Product) *product) {
    const int64_t width = in->width, gates = in->kind == LSTM ? 4 : 3;
    memset(room->states, 0, 2 * room->most * width * sizeof(float));
    for (int64_t step = 0; count; step++) {
        for (int64_t row = 0, some; row < count; row += some) {
            some = count - row < ROWS_OF_STEP ? count - row : ROWS_OF_STEP;
            float *states = room->states + row * width, *recurrent = room->recurrent;
            const char *problem = NULL; /* all states are 0 before the first step */
            if (step) problem = product((char *)states, some, in->by + 2 * direction + 1, 0, (char *)recurrent, 0);
            else memset(recurrent, 0, some * gates * width * sizeof *recurrent);
            if (problem) return problem;
            for (int64_t i = row; i < row + some; i++, states += width, recurrent += gates * width) {
                const Pass *pass = passes + i;
                const int64_t at = step ? pass->second + (step - 1) * pass->by : pass->first;
                const float *word = room->words + at * gates * width;
                if (in->kind == LSTM) NAME(lstm_step)(word, recurrent, states, states + room->most * width, width);
                else NAME(rescan_step)(word, recurrent, states, width);
                const int64_t to = pass->before + (in->kind == LSTM ? at : pass->first);
                if (in->kind == LSTM || step + 1 == pass->steps)
                    memcpy(in->output + (2 * to + direction) * width, states, width * sizeof *states);
            }
        }
        while (count && passes[count - 1].steps <= step + 1) count--;
    }
    return NULL;
}

static const char *NAME(recurrent_with)(const Recurrent *in, const Share *share, NAME(Product) *product) {
    const int64_t width = in->width, gates = in->kind == LSTM ? 4 : 3, inputs = in->by->inputs;
    const int64_t most = in->longest < WORDS_TOGETHER ? WORDS_TOGETHER : in->longest;
    const int64_t numbers = most * (inputs + (gates + 2) * width) + ROWS_OF_STEP * gates * width;
    Pass *passes = malloc(most * sizeof *passes + numbers * sizeof(float));
    if (!passes) return NO_MEMORY;
    float *x = (float *)(passes + most), *words = x + most * inputs, *states = words + most * gates * width;
    const RecurrentRoom room = {most, words, states, states + 2 * most * width};
    const char *problem = NULL;
    for (int64_t from = share->first, to; from < share->end && !problem; from = to) {
        int64_t rows = 0;
        for (to = from; to < share->end && (to == from || rows + in->lengths[to] <= most); rows += in->lengths[to++])
            memcpy(x + rows * inputs, in->x + in->first[to] * inputs, in->lengths[to] * inputs * sizeof *x);
        for (int direction = (int)share->head; direction < 2 && !problem; direction += (int)share->step) {
            problem = product((char *)x, rows, in->by + 2 * direction, 0, (char *)words, 0);
            const int64_t count = passes_of(in, direction, from, to, passes);
            if (!problem) problem = NAME(run_passes)(in, direction, passes, count, &room, product);
        }
    }
    free(passes);
    return problem;
}

static const char *NAME(recurrent_layer)(const void *job, const Share *share) {
    return NAME(recurrent_with)(job, share, NAME(product));
}
