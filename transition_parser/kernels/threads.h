/* Threads that share work. */

#pragma once

#include <pthread.h>
#include <stddef.h>

#define THREADS 16 /* the largest number of threads */

/* Do pieces of work: the last one in this thread, and each other piece in a thread of its own. This thread also does
   the pieces whose threads cannot be started. Return when all pieces are done.

   worked: does one piece, of which it gets the address
   works: (count); the pieces, at most THREADS
   size: the size of a piece in bytes */
static void in_threads(void *(*worked)(void *), void *works, size_t size, int count) {
    pthread_t threads[THREADS];
    int started[THREADS];
    for (int i = 0; i + 1 < count; i++)
        started[i] = !pthread_create(threads + i, NULL, worked, (char *)works + i * size);
    for (int i = count - 1; i >= 0; i--) {
        if (i + 1 < count && started[i])
            pthread_join(threads[i], NULL);
        else
            worked((char *)works + i * size);
    }
}
