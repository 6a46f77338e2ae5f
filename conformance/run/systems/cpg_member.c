/* A member of a Corosync process group for `antiphon cluster --system corosync`, beside a running daemon.

   Standard input has one command a line: "say TEXT" broadcasts, "talk MS TEXT" broadcasts every MS milliseconds from then
   on, "leave" leaves the group and ends. Standard output has one event a line, in the order in which the application meets
   them, behind its time in nanoseconds of CLOCK_MONOTONIC: "version TEXT", "me ADDRESS", "view - ADDRESS...", "sent TEXT",
   "got TEXT", "left". An address is NODE:PID. CPG gives its views no name. Built with -lcpg. */
#include <corosync/corotypes.h>
#include <corosync/cpg.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static void tell_time(void) { printf("%" PRId64 " ", now()); }

static void tell_name(const char *kind, uint32_t node, uint32_t pid) { printf("%s%" PRIu32 ":%" PRIu32, kind, node, pid); }

static void deliver(cpg_handle_t handle, const struct cpg_name *group, uint32_t node, uint32_t pid, void *message,
                    size_t size) {
    (void)handle, (void)group, (void)node, (void)pid;
    tell_time();
    printf("got %.*s\n", (int)size, (char *)message);
    fflush(stdout);
}

static void change(cpg_handle_t handle, const struct cpg_name *group, const struct cpg_address *members, size_t count,
                   const struct cpg_address *left, size_t left_count, const struct cpg_address *joined,
                   size_t joined_count) {
    (void)handle, (void)group, (void)left, (void)left_count, (void)joined, (void)joined_count;
    tell_time();
    printf("view -");
    for (size_t k = 0; k < count; k++) tell_name(" ", members[k].nodeid, members[k].pid);
    printf("\n");
    fflush(stdout);
}

static void fail(const char *call, cs_error_t error) {
    fprintf(stderr, "%s: error %d of Corosync\n", call, error);
    exit(1);
}

static void say(cpg_handle_t handle, char *text, size_t length) {
    tell_time();
    printf("sent %.*s\n", (int)length, text);
    fflush(stdout);
    struct iovec vector = {.iov_base = text, .iov_len = length};
    cs_error_t error = CS_OK;
    for (int k = 0; k < 1000; k++, usleep(10000)) {
        error = cpg_mcast_joined(handle, CPG_TYPE_AGREED, &vector, 1);
        if (error != CS_ERR_TRY_AGAIN) break;
        cpg_dispatch(handle, CS_DISPATCH_ALL);
    }
    if (error != CS_OK) fail("cpg_mcast_joined", error);
}

int main(void) {
    cpg_model_v1_data_t callbacks = {.model = CPG_MODEL_V1,
                                     .cpg_deliver_fn = deliver,
                                     .cpg_confchg_fn = change};
    struct cpg_name group = {.length = 8, .value = "antiphon"};
    cpg_handle_t handle;
    cs_error_t error = CS_OK;
    for (int k = 0; k < 200; k++, usleep(100000)) {
        error = cpg_model_initialize(&handle, CPG_MODEL_V1, (cpg_model_data_t *)&callbacks, NULL);
        if (error == CS_OK) break;
    }
    if (error != CS_OK) fail("cpg_model_initialize", error);
    for (int k = 0; k < 200 && (error = cpg_join(handle, &group)) == CS_ERR_TRY_AGAIN; k++) usleep(100000);
    if (error != CS_OK) fail("cpg_join", error);
    unsigned node;
    if ((error = cpg_local_get(handle, &node)) != CS_OK) fail("cpg_local_get", error);
    tell_time();
    printf("me %u:%d\n", node, getpid());
    fflush(stdout);
    int daemon;
    if ((error = cpg_fd_get(handle, &daemon)) != CS_OK) fail("cpg_fd_get", error);
    struct pollfd ready[2] = {{.fd = daemon, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    char line[4096], text[4096];
    size_t filled = 0;
    int64_t every = 0, due = 0;
    for (;;) {
        int64_t waits = !every ? -1 : due > now() ? (due - now() + 999999) / 1000000 : 0;
        if (poll(ready, 2, waits) < 0 && errno != EINTR) return perror("poll"), 1;
        if (every && now() >= due) {
            say(handle, text, strlen(text));
            due = now() + every;
        }
        if (ready[0].revents && (error = cpg_dispatch(handle, CS_DISPATCH_ALL)) != CS_OK && error != CS_ERR_TRY_AGAIN)
            fail("cpg_dispatch", error);
        if (!ready[1].revents) continue;
        ssize_t got = read(0, line + filled, sizeof line - filled);
        if (got <= 0) return 0;
        filled += got;
        for (char *end; (end = memchr(line, '\n', filled)) != NULL;) {
            size_t length = end - line;
            if (length == 5 && !memcmp(line, "leave", 5)) {
                cpg_leave(handle, &group);
                tell_time();
                printf("left\n");
                return 0;
            }
            if (length > 5 && !memcmp(line, "talk ", 5)) {
                char *rest;
                *end = 0;
                every = strtol(line + 5, &rest, 10) * 1000000;
                snprintf(text, sizeof text, "%s", rest + 1);
                due = now();
            } else if (length > 4)
                say(handle, line + 4, length - 4);
            filled -= length + 1;
            memmove(line, end + 1, filled);
        }
        if (filled == sizeof line) return fprintf(stderr, "a command is longer than %zu bytes\n", sizeof line), 1;
    }
}
