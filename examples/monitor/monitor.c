/* Samples the first GPU for a second and prints the summary.
 *
 *   cc monitor.c -lgpuprof -o monitor && ./monitor                     (a GPU)
 *   ./monitor replay:../../tests/fixtures/nvml/bursty.csv@max          (a recorded series)
 */
#include <stdio.h>
#include <time.h>

#include "gpuprof.h"

int main(int argc, char** argv) {
    gpuprof_monitor_options options = {.size = sizeof options, .backend = argc > 1 ? argv[1] : NULL};
    gpuprof_monitor* monitor = NULL;
    if (gpuprof_monitor_open(&options, &monitor) != 0 || gpuprof_monitor_start(monitor) != 0) {
        fprintf(stderr, "%s\n", gpuprof_last_error());
        gpuprof_monitor_free(monitor);
        return 1;
    }
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* your work */
    gpuprof_monitor_stop(monitor);
    printf("%s", gpuprof_summary_text(gpuprof_monitor_summary_json(monitor, 0)));
    gpuprof_monitor_free(monitor);
    return 0;
}
