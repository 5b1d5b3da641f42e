// As much JSON as arguments need: the text of a field, and a text as JSON. Texts end with NUL and are
// freed with `free`.
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static unsigned json_hex(const char *at) {
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        value = value * 16 + (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return value;
}

static char *json_utf8(char *out, unsigned code) {
    if (code < 0x80) {
        *out++ = code;
    } else if (code < 0x800) {
        *out++ = 0xC0 | code >> 6;
        *out++ = 0x80 | (code & 63);
    } else if (code < 0x10000) {
        *out++ = 0xE0 | code >> 12;
        *out++ = 0x80 | (code >> 6 & 63);
        *out++ = 0x80 | (code & 63);
    } else {
        *out++ = 0xF0 | code >> 18;
        *out++ = 0x80 | (code >> 12 & 63);
        *out++ = 0x80 | (code >> 6 & 63);
        *out++ = 0x80 | (code & 63);
    }
    return out;
}

// Reads a string that begins at `*at`, after its quote, and leaves `*at` after the closing one.
static char *json_string(const char **at, const char *end) {
    char *text = malloc(end - *at + 1), *out = text;
    const char *p = *at;
    while (p < end && *p != '"') {
        if (*p != '\\') {
            *out++ = *p++;
            continue;
        }
        p++;
        switch (*p++) {
        case 'n': *out++ = '\n'; break;
        case 't': *out++ = '\t'; break;
        case 'r': *out++ = '\r'; break;
        case 'b': *out++ = '\b'; break;
        case 'f': *out++ = '\f'; break;
        case 'u': {
            unsigned code = json_hex(p);
            p += 4;
            if (code >= 0xD800 && code < 0xDC00 && p[0] == '\\' && p[1] == 'u') {
                code = 0x10000 + ((code - 0xD800) << 10) + (json_hex(p + 2) - 0xDC00);
                p += 6;
            }
            out = json_utf8(out, code);
            break;
        }
        default: *out++ = p[-1];
        }
    }
    *out = 0;
    *at = p + 1;
    return text;
}

// The text of a field of an object; an empty one where there is none. opal has checked the object against
// the manifest, so it is well formed.
static char *json_field(const char *json, size_t length, const char *name) {
    const char *p = json, *end = json + length;
    int depth = 0;
    while (p < end) {
        char c = *p++;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        if (c != '"') continue;
        char *key = json_string(&p, end);
        while (p < end && (*p == ' ' || *p == ':')) p++;
        bool is_it = depth == 1 && strcmp(key, name) == 0 && p < end && *p == '"' && p[-1] != '"';
        free(key);
        if (is_it) {
            p++;
            return json_string(&p, end);
        }
        // The value of another field: its text is not a key.
        if (p < end && *p == '"' && p[-1] == ':') {
            p++;
            free(json_string(&p, end));
        }
    }
    return calloc(1, 1);
}

// A text as JSON, with its quotes.
static char *json_text(const char *text) {
    char *json = malloc(6 * strlen(text) + 3), *out = json;
    *out++ = '"';
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\') {
            *out++ = '\\';
            *out++ = *p;
        } else if (*p < 0x20) {
            const char *digits = "0123456789abcdef";
            memcpy(out, "\\u00", 4);
            out[4] = digits[*p >> 4];
            out[5] = digits[*p & 15];
            out += 6;
        } else {
            *out++ = *p;
        }
    }
    *out++ = '"';
    *out = 0;
    return json;
}
