/* Definitions that several libraries share. */

#include <stdint.h>

#define OUTSIDE(index, size) ((uint64_t)(index) >= (uint64_t)(size))

/* The words that the effects of dependency systems name. */
enum { NO_WORD, S0, S1, B0, WORDS };

/* The effect of an action, like `Effect` in transitions/spec.py. Words have the numbers of the enum above. */
typedef struct {
    int64_t dependent, head, stack_pops, stack_push, buffer_pops, swaps, buffer_pushes[2];
} Effect;
