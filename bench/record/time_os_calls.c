/* Times reads of no bytes from an empty descriptor, the shortest of calls: bursts of 1,000 in each of THREADS threads at once. Prints
   the median ns per call over 2,000 bursts of each thread. Compiled by run.py. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kBursts = 2000, kCalls = 1000, kMostThreads = 64 };
static double bursts[kMostThreads * kBursts];
static pthread_barrier_t start;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
static void* measure(void* into) {
    double* own = into;
    pthread_barrier_wait(&start);
    for (int burst = 0; burst < kBursts; burst++) {
        double begin = now();
        for (int call = 0; call < kCalls; call++)
            if (read(-1, NULL, 0) != -1) abort();
        own[burst] = (now() - begin) / kCalls;
    }
    return NULL;
}
static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}
int main(int count, char** words) {
    int threads = count > 1 ? atoi(words[1]) : 1;
    pthread_t each[kMostThreads];
    if (threads < 1 || threads > kMostThreads) return 2;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) pthread_create(&each[i], NULL, measure, bursts + i * kBursts);
    for (int i = 0; i < threads; i++) pthread_join(each[i], NULL);
    qsort(bursts, (size_t)threads * kBursts, sizeof bursts[0], compare);
    printf("%.1f\n", bursts[threads * kBursts / 2]);
    return 0;
}
