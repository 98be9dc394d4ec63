/* The static oracle of arc-hybrid with SWAP for one tree; see tree_replay.c. All numbers are int64.

   Words are numbered from 0, and the root is behind the last one. `ArcHybridSwap.oracle` computes the same, and
   `DependencyTree` describes the projective order and the components. */

typedef enum { SHIFT_STEP, LEFT_STEP, RIGHT_STEP, SWAP_STEP } StepKind;

enum { TREE_ROOMS = 5 };  /* rows of memory that the oracle needs, of words + 1 numbers each */

/* The tree as the oracle reads it. Arrays have a number for each word and one for the root.

   rank: the place of each word in the projective order
   top: the head of each word's projective component
   missing: how many dependents each word still has to get */
typedef struct {
    int64_t words;
    const int64_t *head;
    int64_t *rank, *top, *missing;
} OracleTree;

/* Count the dependents of all words. */
static void count_missing(OracleTree tree) {
    for (int64_t i = 0; i <= tree.words; i++) tree.missing[i] = 0;
    for (int64_t i = 0; i < tree.words; i++) tree.missing[tree.head[i]]++;
}

/* Give ranks to a word and to all words below it: dependents on the left, the word itself, dependents on the right.
   Return the rank after the last one.

   first, next: (words + 1); the first dependent of each word, and the next dependent of the same head; -1 for none */
static int64_t rank_below(OracleTree tree, const int64_t *first, const int64_t *next, int64_t word, int64_t rank) {
    int64_t child = first[word];
    for (; child >= 0 && child < word; child = next[child]) rank = rank_below(tree, first, next, child, rank);
    tree.rank[word] = rank++;
    for (; child >= 0; child = next[child]) rank = rank_below(tree, first, next, child, rank);
    return rank;
}

/* Compute the projective order. Return how many words the root reaches: all of them in a tree.

   first, next: (words + 1); memory */
static int64_t rank_words(OracleTree tree, int64_t *first, int64_t *next) {
    for (int64_t i = 0; i <= tree.words; i++) first[i] = -1;
    for (int64_t i = tree.words - 1; i >= 0; i--) {
        next[i] = first[tree.head[i]];
        first[tree.head[i]] = i;
    }
    return rank_below(tree, first, next, tree.words, 0) - 1; /* without the root */
}

/* Compute the heads of the components. `missing` is used up.

   stack, joined: (words + 1); memory */
static void find_components(OracleTree tree, int64_t *stack, int64_t *joined) {
    int64_t depth = 0, count = 0;
    for (int64_t i = 0; i <= tree.words; i++) tree.top[i] = i;
    for (int64_t next = 0; next < tree.words; next++) {
        stack[depth++] = next;
        while (depth > 1) {
            const int64_t second = stack[depth - 2], first = stack[depth - 1];
            if (tree.head[second] == first && !tree.missing[second]) {
                stack[depth - 2] = first;
                tree.top[second] = first;
                tree.missing[first]--;
                joined[count++] = second;
            } else if (tree.head[first] == second && !tree.missing[first]) {
                tree.top[first] = second;
                tree.missing[second]--;
                joined[count++] = first;
            } else {
                break;
            }
            depth--;
        }
    }
    while (count) { /* a head is joined later than its dependents */
        const int64_t word = joined[--count];
        tree.top[word] = tree.top[tree.top[word]];
    }
}

/* Write the steps that build the tree, and return their number. Return −1 for heads that are no tree.

   stack, buffer: (words + 1); memory
   kind, word: (2 words + words (words − 1)); the kind of each step, and the word that it moves or attaches */
static int64_t write_steps(OracleTree tree, int64_t *stack, int64_t *buffer, int64_t *kind, int64_t *word) {
    const int64_t root = tree.words;
    int64_t depth = 0, size = 0, count = 0;
    for (int64_t i = root; i >= 0; i--) buffer[size++] = i;
    while (size > 1 || depth) {
        const int64_t front = buffer[size - 1];
        const int64_t top = depth ? stack[depth - 1] : -1, second = depth > 1 ? stack[depth - 2] : -1;
        const int waits = front < root && tree.head[front] > front && tree.top[tree.head[front]] == tree.top[front];
        StepKind step = SHIFT_STEP;
        if (depth && !tree.missing[top] && tree.head[top] == front) step = LEFT_STEP;
        else if (depth > 1 && !tree.missing[top] && tree.head[top] == second) step = RIGHT_STEP;
        else if (depth && tree.rank[top] > tree.rank[front] && !waits) step = SWAP_STEP;
        if (step == SHIFT_STEP && front == root) return -1;
        kind[count] = step;
        word[count++] = step == SHIFT_STEP ? front : top;
        if (step == SHIFT_STEP) {
            stack[depth++] = front;
            size--;
            continue;
        }
        depth--;
        if (step == SWAP_STEP) {
            buffer[size - 1] = top;
            buffer[size++] = front;
        } else {
            tree.missing[tree.head[top]]--;
        }
    }
    return count;
}
