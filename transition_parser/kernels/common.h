/* Definitions that several libraries share. */

#pragma once

#include <stdint.h>
#include <string.h>

#define OUTSIDE(index, size) ((uint64_t)(index) >= (uint64_t)(size))

static inline uint16_t round_to_half(float x) { /* rounds to the nearest bfloat16, ties to even */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static inline float widen(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The words that the effects of dependency systems name. */
enum { NO_WORD, S0, S1, B0, WORDS };

/* The effect of an action, like `Effect` in transitions/tree_system.py. Words have the numbers of the enum above. */
typedef struct {
    int64_t dependent, head, stack_pops, stack_push, buffer_pops, swaps, buffer_pushes[2];
} Effect;
