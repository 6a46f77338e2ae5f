/* Adapter in C: total order by a sequencer, as ordered_spec.py has it. Compile it with cc -o ordered ordered.c */
#include <stdarg.h>
#include "json.h"

#define TICK_NS 100000000ULL
#define MOST 10000
enum { DONE, NOT_SUPPORTED = 10, MALFORMED = 12, REFUSED = 22 };

typedef struct { char *m, *bytes; } message; /* both as JSON; bytes may be NULL */
static message delivered[MOST], wanted[MOST];
static int deliveries, wants, nodes;
static char *me, *names[64];

static void say(const char *dest, const char *format, ...) {
    va_list more;
    va_start(more, format);
    printf("{\"src\":%s,\"dest\":%s,\"body\":{", me, dest);
    vprintf(format, more);
    puts("}}");
    va_end(more);
}

static void tell(const char *dest, const char *what, int number, message it) {
    char place[32] = "";
    if (number) sprintf(place, "\"number\":%d,", number);
    say(dest, "%s,%s\"m\":%s%s%s", what, place, it.m, it.bytes ? ",\"bytes\":" : "", it.bytes ? it.bytes : "");
}

static int knows(const message *among, int count, const char *m) {
    while (count-- > 0) if (!strcmp(among[count].m, m)) return 1;
    return 0;
}

static int is_sequencer(void) { return !strcmp(me, names[0]); }

static message kept(message it) { return (message){strdup(it.m), it.bytes ? strdup(it.bytes) : NULL}; }

static void deliver(message it) {
    int left = 0;
    for (int i = 0; i < wants; i++) if (strcmp(wanted[i].m, it.m)) wanted[left++] = wanted[i];
    wants = left;
    delivered[deliveries++] = kept(it);
    tell("\"antiphon\"", "\"type\":\"antiphon.event\",\"kind\":\"deliver\"", deliveries, it);
}

static void number(message it) {
    deliver(it);
    for (int i = 1; i < nodes; i++) tell(names[i], "\"type\":\"order\"", deliveries, it);
}

static int broadcast(message it) {
    if (!it.m) return MALFORMED;
    if (knows(delivered, deliveries, it.m) || knows(wanted, wants, it.m)) return REFUSED;
    if (is_sequencer()) return number(it), DONE;
    wanted[wants++] = kept(it);
    tell(names[0], "\"type\":\"want\"", 0, it);
    return DONE;
}

static int tick(void) {
    if (is_sequencer()) return REFUSED;
    for (int i = 0; i < wants; i++) tell(names[0], "\"type\":\"want\"", 0, wanted[i]);
    say(names[0], "\"type\":\"ask\",\"next\":%d", deliveries + 1);
    return DONE;
}

static int receive(const char *src, const char *body) {
    char *type = get(body, "type"), *next = get(body, "next"), *place = get(body, "number");
    message it = {get(body, "m"), get(body, "bytes")};
    if (!src || !type) return MALFORMED;
    if (!strcmp(type, "\"want\"") && it.m && !knows(delivered, deliveries, it.m)) number(it);
    if (!strcmp(type, "\"ask\"") && next)
        for (int i = atoi(next); i <= deliveries; i++) tell(src, "\"type\":\"order\"", i, delivered[i - 1]);
    if (!strcmp(type, "\"order\"") && place && it.m && atoi(place) == deliveries + 1) deliver(it);
    return DONE;
}

static int step(const char *todo) {
    char *arguments;
    if ((arguments = get(todo, "broadcast"))) return broadcast((message){get(arguments, "m"), get(arguments, "bytes")});
    if ((arguments = get(todo, "receive"))) return receive(get(arguments, "src"), get(arguments, "body"));
    if (get(todo, "tick")) return tick();
    if (get(todo, "restart")) return deliveries = wants = 0, DONE; /* nothing outlives a crash */
    return todo && *blank(blank(todo) + 1) == '}' ? DONE : NOT_SUPPORTED;
}

static void list(const char *name, const message *of, int count) {
    printf("\"%s\":[", name);
    for (int i = 0; i < count; i++) printf("%s%s", i ? "," : "", of[i].m);
    printf("]");
}

static void done(const char *dest, const char *id, const char *now) {
    printf("{\"src\":%s,\"dest\":%s,\"body\":{\"type\":\"antiphon.done\",\"in_reply_to\":%s,", me, dest, id);
    if (!is_sequencer()) printf("\"wake_ns\":%llu,", strtoull(now, NULL, 10) + TICK_NS);
    printf("\"state\":{");
    list("log", delivered, deliveries);
    printf(",");
    list("wanted", wanted, wants);
    puts("}}}");
}

static void begin(const char *id, const char *list) {
    me = strdup(id);
    for (const char *p = blank(list + 1), *end; *p == '"' && nodes < 64; p = blank(blank(end) + (*blank(end) == ',')))
        names[nodes++] = strdup(cut(p, end = skip(p)));
}

int main(void) {
    for (; fgets(line, sizeof line, stdin); fflush(stdout), free_room = room) {
        char *src = get(line, "src"), *body = get(line, "body"), *type = get(body, "type"), *id = get(body, "msg_id");
        int code = NOT_SUPPORTED;
        if (!type || !id) continue;
        if (!strcmp(type, "\"init\"")) {
            begin(get(body, "node_id"), get(body, "node_ids"));
            say(src, "\"type\":\"init_ok\",\"in_reply_to\":%s,\"antiphon\":{\"version\":1,"
                     "\"can\":[\"step\",\"clock\",\"state\",\"restart\",\"deliver\"]}", id);
            continue;
        }
        if (!strcmp(type, "\"antiphon.step\"") && !(code = step(get(body, "do")))) done(src, id, get(body, "now_ns"));
        if (code) say(src, "\"type\":\"error\",\"in_reply_to\":%s,\"code\":%d", id, code);
    }
}
