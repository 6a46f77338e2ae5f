/* Adapter in C: total order by a sequencer, as ordered_spec.py has it. Compile it with cc -o ordered ordered.c
 *
 * It needs no library: JSON is kept as text, of which `get` cuts out the value of a key. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 100000000ULL
#define MOST 10000
enum { DONE, NOT_SUPPORTED = 10, MALFORMED = 12, REFUSED = 22 };

typedef struct { char *m, *bytes; } message; /* both as JSON; bytes may be NULL */
static message delivered[MOST], wanted[MOST];
static int deliveries, wants, nodes;
static char *me, *names[64], *disk, *cut, *cutting; /* cut: memory for one line */

static const char *blank(const char *p) { return p + strspn(p, " \t\r\n"); }

/* The end of the JSON value that begins at p. */
static const char *skip(const char *p) {
    int depth = 0;
    do {
        if (*p == '"') for (p++; *p && *p != '"'; p++) p += *p == '\\' && p[1];
        else depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p += *p != 0;
    } while (*p && (depth > 0 || !strchr(",:}] \t\r\n", *p)));
    return p;
}

/* The value of a key as text that lasts as long as this line of input; NULL where there is none. */
static char *get(const char *object, const char *key) {
    if (!object || *(object = blank(object)) != '{') return NULL;
    for (const char *p = blank(object + 1); *p == '"'; p = blank(p + (*p == ','))) {
        const char *name = p + 1, *value = blank(blank(p = skip(p)) + 1);
        int found = strlen(key) == (size_t)(p - name - 1) && !strncmp(name, key, strlen(key));
        p = skip(value);
        if (found) {
            char *text = cutting;
            cutting += sprintf(cutting, "%.*s", (int)(p - value), value) + 1;
            return text;
        }
        p = blank(p);
    }
    return NULL;
}

static void say(const char *dest, const char *format, ...) {
    va_list more;
    va_start(more, format);
    printf("{\"src\":%s,\"dest\":%s,\"body\":{", me, dest);
    vprintf(format, more);
    puts("}}");
    va_end(more);
}

static void say_message(const char *dest, const char *before, int number, message it) {
    char text[64] = "";
    if (number) sprintf(text, "\"number\":%d,", number);
    say(dest, "%s,%s\"m\":%s%s%s", before, text, it.m, it.bytes ? ",\"bytes\":" : "", it.bytes ? it.bytes : "");
}

static int knows(const message *among, int count, const char *m) {
    while (count-- > 0) if (!strcmp(among[count].m, m)) return 1;
    return 0;
}

static int is_sequencer(void) { return !strcmp(me, names[0]); }

/* Take note of a message that the node wants ('w') or has delivered ('d'). */
static void note(char what, message it) {
    message kept = {strdup(it.m), it.bytes ? strdup(it.bytes) : NULL};
    if (what == 'w') { wanted[wants++] = kept; return; }
    delivered[deliveries++] = kept;
    int left = 0;
    for (int i = 0; i < wants; i++) if (strcmp(wanted[i].m, it.m)) wanted[left++] = wanted[i];
    wants = left;
}

static void keep(char what, message it) {
    FILE *file = fopen(disk, "a");
    if (!file || fprintf(file, "%c\t%s\t%s\n", what, it.m, it.bytes ? it.bytes : "") < 0 || fclose(file)) exit(1);
    note(what, it);
}

/* Forget all but what is on the disk, which antiphon has emptied where it has to be forgotten too. */
static void restart(void) {
    char *line = NULL;
    size_t size = 0;
    deliveries = wants = 0;
    FILE *file = fopen(disk, "r");
    while (file && getline(&line, &size, file) > 0) {
        char *m = line + 2, *bytes = strchr(m, '\t');
        *bytes++ = 0, bytes[strcspn(bytes, "\n")] = 0;
        note(*line, (message){m, *bytes ? bytes : NULL});
    }
    if (file) fclose(file);
    free(line);
}

static void deliver(message it) {
    keep('d', it);
    say_message("\"antiphon\"", "\"type\":\"antiphon.event\",\"kind\":\"deliver\"", deliveries, it);
}

static void number(message it) {
    deliver(it);
    for (int i = 1; i < nodes; i++) say_message(names[i], "\"type\":\"order\"", deliveries, it);
}

static int broadcast(message it) {
    if (!it.m) return MALFORMED;
    if (knows(delivered, deliveries, it.m) || knows(wanted, wants, it.m)) return REFUSED;
    if (is_sequencer()) return number(it), DONE;
    keep('w', it);
    say_message(names[0], "\"type\":\"want\"", 0, it);
    return DONE;
}

static int tick(void) {
    if (is_sequencer()) return REFUSED;
    for (int i = 0; i < wants; i++) say_message(names[0], "\"type\":\"want\"", 0, wanted[i]);
    say(names[0], "\"type\":\"ask\",\"next\":%d", deliveries + 1);
    return DONE;
}

static int receive(const char *src, const char *body) {
    char *type = get(body, "type"), *next = get(body, "next"), *place = get(body, "number");
    message it = {get(body, "m"), get(body, "bytes")};
    if (!src || !type) return MALFORMED;
    if (!strcmp(type, "\"want\"") && it.m && !knows(delivered, deliveries, it.m)) number(it);
    if (!strcmp(type, "\"ask\"") && next)
        for (int i = atoi(next); i <= deliveries; i++) say_message(src, "\"type\":\"order\"", i, delivered[i - 1]);
    if (!strcmp(type, "\"order\"") && place && it.m && atoi(place) == deliveries + 1) deliver(it);
    return DONE;
}

static int step(const char *todo) {
    char *arguments;
    if ((arguments = get(todo, "broadcast"))) return broadcast((message){get(arguments, "m"), get(arguments, "bytes")});
    if ((arguments = get(todo, "receive"))) return receive(get(arguments, "src"), get(arguments, "body"));
    if (get(todo, "tick")) return tick();
    if (get(todo, "restart")) return restart(), DONE;
    return todo && *blank(blank(todo) + 1) == '}' ? DONE : NOT_SUPPORTED;
}

static void done(const char *dest, const char *id, const char *now) {
    printf("{\"src\":%s,\"dest\":%s,\"body\":{\"type\":\"antiphon.done\",\"in_reply_to\":%s,", me, dest, id);
    if (!is_sequencer()) printf("\"wake_ns\":%llu,", strtoull(now, NULL, 10) + TICK_NS);
    printf("\"state\":{\"log\":[");
    for (int i = 0; i < deliveries; i++) printf("%s%s", i ? "," : "", delivered[i].m);
    printf("],\"wanted\":[");
    for (int i = 0; i < wants; i++) printf("%s%s", i ? "," : "", wanted[i].m);
    puts("]}}}");
}

static void begin(const char *body) {
    me = strdup(get(body, "node_id"));
    const char *list = get(body, "node_ids");
    for (const char *p = blank(list + 1); *p == '"' && nodes < 64; p = blank(p + (*p == ','))) {
        const char *end = skip(p);
        names[nodes++] = strndup(p, (size_t)(end - p)), p = blank(end);
    }
    char *directory = get(get(body, "antiphon"), "disk"); /* "directory", with its quotes */
    disk = malloc(strlen(directory) + 8);
    sprintf(disk, "%.*s/disk", (int)strlen(directory) - 2, directory + 1);
    restart();
}

int main(void) {
    char *line = NULL;
    size_t size = 0;
    for (ssize_t length; (length = getline(&line, &size, stdin)) > 0; fflush(stdout)) {
        cutting = cut = realloc(cut, 16 * (size_t)length + 64);
        char *src = get(line, "src"), *body = get(line, "body"), *type = get(body, "type"), *id = get(body, "msg_id");
        int code = NOT_SUPPORTED;
        if (!type || !id) continue;
        if (!strcmp(type, "\"init\"")) {
            begin(body);
            say(src, "\"type\":\"init_ok\",\"in_reply_to\":%s,\"antiphon\":{\"version\":1,"
                     "\"can\":[\"step\",\"clock\",\"state\",\"restart\",\"disk\",\"deliver\"]}", id);
            continue;
        }
        if (!strcmp(type, "\"antiphon.step\"") && !(code = step(get(body, "do")))) done(src, id, get(body, "now_ns"));
        if (code) say(src, "\"type\":\"error\",\"in_reply_to\":%s,\"code\":%d", id, code);
    }
}
