/* Two processes hand a byte to each other on one CPU for SECONDS, which takes two context switches each time. Prints the CPU time of
   both per switch in ns, and the switches per second. With "threads" instead: the CPU time in ns of creating and joining a thread.
   Compiled by run.py. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
static double used_by(int who) {
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}
static void* nothing(void* argument) { return argument; }
static int time_threads(void) {
    enum { kThreads = 5000 };
    double begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < kThreads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL) != 0) return 1;
        pthread_join(thread, NULL);
    }
    printf("%.0f\n", (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin) / kThreads * 1e9);
    return 0;
}
int main(int count, char** words) {
    if (count != 2) return 2;
    if (strcmp(words[1], "threads") == 0) return time_threads();
    int there[2], back[2];
    cpu_set_t all, one;
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    char byte = 0;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {}
        _exit(0);
    }
    double begin = seconds_of(CLOCK_MONOTONIC), now = begin, switches = 0;
    for (; now < begin + atof(words[1]); now = seconds_of(CLOCK_MONOTONIC))
        for (int i = 0; i < 100; i++, switches += 2)
            if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
    close(there[1]);
    wait(NULL);
    printf("%.0f %.0f\n", (used_by(RUSAGE_SELF) + used_by(RUSAGE_CHILDREN)) / switches * 1e9, switches / (now - begin));
    return 0;
}
