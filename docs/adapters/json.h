/* JSON as text: `get` cuts out the value of a key. Escapes in it stay as they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 23], room[1 << 27], *free_room = room; /* room: what `get` has cut out of this line */

static const char *blank(const char *p) { return p + strspn(p, " \t\r\n"); }

static const char *skip(const char *p) { /* the end of the value that begins at p */
    int depth = 0;
    do {
        if (*p == '"') for (p++; *p && *p != '"'; p++) p += *p == '\\' && p[1];
        else depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p += *p != 0;
    } while (*p && (depth > 0 || !strchr(",:}] \t\r\n", *p)));
    return p;
}

static char *cut(const char *from, const char *to) {
    char *text = free_room;
    free_room += sprintf(text, "%.*s", (int)(to - from), from) + 1;
    return text;
}

static char *get(const char *object, const char *key) {
    if (!object || *(object = blank(object)) != '{') return NULL;
    for (const char *p = blank(object + 1); *p == '"'; p = blank(p + (*p == ','))) {
        const char *name = p + 1, *value = blank(blank(p = skip(p)) + 1);
        int found = strlen(key) == (size_t)(p - name - 1) && !strncmp(name, key, strlen(key));
        p = skip(value);
        if (found) return cut(value, p);
        p = blank(p);
    }
    return NULL;
}
