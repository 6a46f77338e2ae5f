/* One member of a Corosync process group: arguments are the daemon's process, members, payload, seconds, warm-up,
   messages a second (0: all it can). Processor time and memory are the daemon's too. Built with -lcpg. */
#include <corosync/corotypes.h>
#include <corosync/cpg.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long delivered, samples;
static size_t present;
static int sampling;
static double latencies[1 << 22];

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

static char *daemon_process;

static void daemon_used(double *seconds, double *mb) {
    char path[64];
    unsigned long user = 0, system = 0;
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", daemon_process);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %*u %*u %ld",
                   &user, &system, &pages) != 3)
            user = system = pages = 0;
        fclose(file);
    }
    *seconds = (double)(user + system) / sysconf(_SC_CLK_TCK);
    *mb = pages * (sysconf(_SC_PAGESIZE) / 1048576.0);
}

static double cpu(void) {
    struct rusage used;
    double seconds, mb;
    getrusage(RUSAGE_SELF, &used);
    daemon_used(&seconds, &mb);
    return seconds + used.ru_utime.tv_sec + used.ru_stime.tv_sec +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static unsigned own;

static void deliver(cpg_handle_t handle, const struct cpg_name *group, uint32_t node, uint32_t pid, void *message,
                    size_t size) {
    (void)handle, (void)group, (void)pid, (void)size;
    delivered++;
    if (sampling && node == own && samples < (1 << 22)) {
        double sent;
        memcpy(&sent, message, sizeof sent);
        latencies[samples++] = now() - sent;
    }
}

static void configure(cpg_handle_t handle, const struct cpg_name *group, const struct cpg_address *members, size_t count,
                      const struct cpg_address *left, size_t left_count, const struct cpg_address *joined,
                      size_t joined_count) {
    (void)handle, (void)group, (void)members, (void)left, (void)left_count, (void)joined, (void)joined_count;
    present = count;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **given) {
    (void)count;
    daemon_process = *++given;
    size_t members = strtoul(given[1], NULL, 10), payload = strtoul(given[2], NULL, 10);
    double seconds = atof(given[3]), warm = atof(given[4]), rate = atof(given[5]) / members;
    cpg_callbacks_t callbacks = {.cpg_deliver_fn = deliver, .cpg_confchg_fn = configure};
    struct cpg_name group = {.length = 9, .value = "benchmark"};
    cpg_handle_t handle;
    cs_error_t error = CS_OK;
    for (int k = 0; k < 100 && (error = cpg_initialize(&handle, &callbacks)) != CS_OK; k++) usleep(100000);
    if (error != CS_OK) return fprintf(stderr, "cpg_initialize: %d\n", error), 1;
    while ((error = cpg_join(handle, &group)) == CS_ERR_TRY_AGAIN) usleep(10000);
    if (error != CS_OK) return fprintf(stderr, "cpg_join: %d\n", error), 1;
    cpg_local_get(handle, &own);
    int descriptor;
    cpg_fd_get(handle, &descriptor);
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    double until = now() + 60;
    while (present < members && now() < until) poll(&ready, 1, 100), cpg_dispatch(handle, CS_DISPATCH_ALL);
    if (present < members) return fprintf(stderr, "%zu of %zu members\n", present, members), 1;
    char *data = calloc(1, payload);
    struct iovec vector = {.iov_base = data, .iov_len = payload};
    double began = now(), at = began + warm, used = 0, half = 0;
    long sent = 0, before = 0;
    while (now() < began + warm + seconds + 1.5) {
        if (!sampling && now() >= at && now() < at + seconds) sampling = 1, before = delivered, used = cpu();
        if (sampling == 1 && now() >= at + seconds) sampling = 0, half = cpu() - used, before = delivered - before, at = 1e300;
        double due = rate == 0 ? 1e18 : (now() - began) * rate;
        for (int k = 0; k < 64 && sent < due; k++) {
            double stamp = now();
            memcpy(data, &stamp, sizeof stamp);
            if (cpg_mcast_joined(handle, CPG_TYPE_AGREED, &vector, 1) != CS_OK) break;
            sent++;
        }
        poll(&ready, 1, 1);
        cpg_dispatch(handle, CS_DISPATCH_ALL);
    }
    qsort(latencies, samples, sizeof *latencies, rising);
    struct rusage memory;
    double seconds_of_daemon, mb;
    getrusage(RUSAGE_SELF, &memory);
    daemon_used(&seconds_of_daemon, &mb);
    printf("{\"rate\":%f,\"cpu\":%f,\"messages\":%ld,\"rss_mb\":%f,\"latencies\":[", before / seconds, half, before,
           memory.ru_maxrss / 1024.0 + mb);
    double parts[] = {0.5, 0.9, 0.99, 0.999};
    for (int k = 0; samples >= 100 && k < 4; k++)
        printf("%s%f", k ? "," : "", latencies[(long)(parts[k] * (samples - 1))] * 1e3);
    printf("]}\n");
    return 0;
}
