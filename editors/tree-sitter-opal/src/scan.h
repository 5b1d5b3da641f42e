// The state that is kept between tokens, and what an `@` begins.

#include "tree_sitter/parser.h"

#include <string.h>

#include "vocabulary.h"

enum Token {
    COMMENT, CONSTRUCT, STEP_BEGIN, ARM_BEGIN, LABEL_BEGIN, ASSIGNMENT_BEGIN, END, STEP_END,
    SHELL_TEXT, SHELL_ESCAPE, DECORATOR, TEXT_DECORATOR, BLOCK_OPEN, BLOCK_TEXT,
    TEXT_PATH, PATH, TEXT_OPEN, TEXT_CLOSE, TEXT_DOT, TEXT_STAR, TEXT_INDEX, STRING_TEXT, TRIPLE_TEXT,
    ERROR,
};

// What is open in a step; those up to IF hold commands.
enum Kind {
    STEP, PAREN, LIST, SUBSTITUTION, BACKTICK, GROUP, CASE, LOOP, IF,
    HEREDOC, EXPANSION, ARITHMETIC, OLD_SUM, BRACE, QUOTE, TEST,
};

// What is known of the command being read.
enum Flag {
    AT_COMMAND = 1, CONTINUES = 2, IN_WORD = 4, REDIRECTS = 8, PATTERNS = 16, ASSIGNS = 32, DECLARES = 64, NAMES = 128,
};

// What precedes the next character.
enum Before { BLANK, WORD_BYTE, CLOSING, QUOTED, OTHER };

// How far a reference is: after its path, its arguments, an access; arguments are open that end it; after the path of a
// call, which has arguments and no fields.
enum Reference { NO_REFERENCE, AFTER_PATH, AFTER_ARGUMENTS, AFTER_ACCESS, ENDING, AFTER_CALL };

#define MAX_FRAMES 60
#define MAX_HEREDOCS 4
#define MAX_DELIMITER 40
#define MAX_LEVELS 20
#define MAX_WORD 9
#define MAX_PATH 120

typedef struct { uint8_t kind, flags; } Frame;
typedef struct { uint8_t tabs, literal, ends, length; char delimiter[MAX_DELIMITER]; } Heredoc;

typedef struct {
    Frame frames[MAX_FRAMES];
    Heredoc heredocs[MAX_HEREDOCS];
    uint8_t references[MAX_LEVELS];
    char word[MAX_WORD];
    uint8_t word_length; // more than MAX_WORD where it is no keyword
    uint8_t depth, heredoc_count, level, before;
    bool is_first, is_done, has_begun;
    uint16_t indentation;
} State;

typedef struct { TSLexer *lexer; const bool *valid; State *state; bool has_text; } Scan;

static inline int32_t next(const Scan *s) { return s->lexer->lookahead; }
static inline bool at_end(const Scan *s) { return s->lexer->eof(s->lexer); }
static inline void advance(Scan *s) { s->lexer->advance(s->lexer, false); }
static inline void skip(Scan *s) { s->lexer->advance(s->lexer, true); }
static inline void mark(Scan *s) { s->lexer->mark_end(s->lexer); }

static bool emit(Scan *s, enum Token token) {
    s->lexer->result_symbol = token;
    return true;
}

static inline bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r'; }
static inline bool is_space(int32_t c) { return is_blank(c) || c == '\n'; }
static inline bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static inline bool is_name_start(int32_t c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool is_name(int32_t c) { return is_name_start(c) || is_digit(c); }
static inline bool one_of(int32_t c, const char *all) { return c > 0 && c < 128 && memchr(all, (int)c, strlen(all)); }

static enum Before before_next(int32_t c) {
    if (is_space(c)) return BLANK;
    if (is_name(c) || c > 127) return WORD_BYTE;
    if (one_of(c, "}])")) return CLOSING;
    return one_of(c, "\"'") ? QUOTED : OTHER;
}

// Takes a character of the text; blanks at the end of a text are not part of it.
static void take(Scan *s) {
    int32_t c = next(s);
    s->state->before = before_next(c);
    if (is_space(c)) {
        s->lexer->advance(s->lexer, !s->has_text);
        return;
    }
    advance(s);
    s->has_text = true;
    mark(s);
}

// ---- References

typedef struct { enum { LITERAL, WORD, UNKNOWN, KNOWN } is; uint8_t kind; } At;

static const uint8_t *kind_of(const char *path, unsigned length) {
    for (unsigned i = 0; i < sizeof PATHS / sizeof *PATHS; i++) {
        if (strlen(PATHS[i].path) == length && !memcmp(PATHS[i].path, path, length)) return &PATHS[i].kind;
    }
    return NULL;
}

typedef struct { char text[MAX_PATH]; unsigned length; } Path;

static void take_name(Scan *s, Path *path) {
    for (; is_name(next(s)); advance(s)) {
        if (path->length < MAX_PATH) path->text[path->length++] = (char)next(s);
    }
}

// The position is after `@cmd.`: the name of a function, perhaps with a namespace. A dash belongs to it where more of the
// name follows.
static void take_function(Scan *s, bool marks) {
    for (int part = 0; part < 2; part++) {
        for (;;) {
            while (is_name(next(s))) advance(s);
            if (marks) mark(s);
            if (next(s) != '-') break;
            advance(s);
            if (!is_name(next(s))) return;
        }
        if (part || next(s) != '.') return;
        advance(s);
        if (!is_name_start(next(s))) return;
    }
}

static bool path_is(const Path *path, const char *word) {
    return path->length == strlen(word) && !memcmp(path->text, word, path->length);
}

// Reads what the `@` at the position begins. With `marks` the token ends after the path.
static At read_at(Scan *s, bool in_text, bool marks) {
    enum Before before = in_text ? s->state->before : BLANK;
    bool after_word = before == WORD_BYTE;
    Path path = {.length = 0};
    advance(s);
    if (!is_name_start(next(s))) return (At){LITERAL, 0};
    take_name(s, &path);
    if (marks) mark(s);
    bool is_value = path_is(&path, "var") || path_is(&path, "env") || path_is(&path, "let");
    bool is_call = path_is(&path, "cmd") || path_is(&path, "needs");
    const uint8_t *kind = kind_of(path.text, path.length);
    At found = {KNOWN, kind ? *kind : 0};
    // How many parts the known path has.
    unsigned known = kind ? 1 : 0, parts = 1;
    if (known && in_text && next(s) == '/') return (At){LITERAL, 0};
    while (next(s) == '.') {
        advance(s);
        if (!is_name_start(next(s))) break;
        if (parts == 1 && is_value) {
            take_name(s, &path);
            if (marks) mark(s);
            return (At){KNOWN, VALUE};
        }
        if (parts == 1 && is_call && !after_word) {
            take_function(s, marks);
            return (At){KNOWN, ACTION};
        }
        if (path.length < MAX_PATH) path.text[path.length++] = '.';
        take_name(s, &path);
        parts++;
        kind = kind_of(path.text, path.length);
        bool is_named = known && (found.kind & NAMED) && parts == known + 1;
        if (kind) {
            found.kind = *kind;
            known = parts;
        }
        if (marks && (kind || is_named || !known)) mark(s);
    }
    if (known) return in_text && after_word && !(found.kind & VALUE) ? (At){LITERAL, 0} : found;
    if (after_word) return (At){LITERAL, 0};
    bool is_host = before == CLOSING || (before == QUOTED && s->valid[SHELL_TEXT]);
    if (!in_text || next(s) == '(' || (parts >= 3 && !is_host)) return (At){UNKNOWN, 0};
    return (At){next(s) == '/' ? LITERAL : WORD, 0};
}

// What may follow a reference directly: arguments, a field, an index. Whether a token was found; else the position may
// have moved over text. What is valid does not count: after an edit the reference may have ended before this is asked.
static bool access_of_text(Scan *s) {
    State *state = s->state;
    uint8_t *reference = &state->references[state->level];
    if (*reference == NO_REFERENCE) return false;
    if (next(s) == '(' && *reference != AFTER_ARGUMENTS) {
        advance(s);
        mark(s);
        bool is_empty = next(s) == ')';
        if ((*reference != AFTER_ACCESS || is_empty) && state->level + 1 < MAX_LEVELS) {
            *reference = is_empty || *reference == AFTER_CALL ? ENDING : AFTER_ARGUMENTS;
            state->references[++state->level] = NO_REFERENCE;
            return emit(s, TEXT_OPEN);
        }
        s->has_text = true;
        state->before = OTHER;
    } else if (next(s) == '.' && *reference != AFTER_CALL) {
        advance(s);
        mark(s);
        if (next(s) == '*') {
            advance(s);
            mark(s);
            *reference = AFTER_ACCESS;
            return emit(s, TEXT_STAR);
        }
        bool is_field = is_name_start(next(s)), is_index = is_digit(next(s));
        while (is_index && is_digit(next(s))) advance(s);
        if (is_field || (is_index && !is_name(next(s)))) {
            *reference = AFTER_ACCESS;
            state->before = WORD_BYTE;
            return emit(s, TEXT_DOT);
        }
        mark(s);
        s->has_text = true;
        state->before = is_index ? WORD_BYTE : OTHER;
    } else if (next(s) == '[' && *reference != AFTER_CALL) {
        advance(s);
        mark(s);
        // After `let.NAME = @call(…)` no text can follow.
        bool in_text = s->valid[SHELL_TEXT] || s->valid[STRING_TEXT] || s->valid[TRIPLE_TEXT];
        int32_t quote = next(s);
        bool is_index = is_digit(quote);
        if (in_text && (quote == '"' || quote == '\'')) {
            advance(s);
            while (!at_end(s) && !one_of(next(s), "\"'\\@$`\r\n")) advance(s);
            is_index = next(s) == quote;
            if (is_index) advance(s);
        }
        while (in_text && is_digit(next(s))) advance(s);
        if (!in_text || (is_index && next(s) == ']')) {
            *reference = AFTER_ACCESS;
            state->before = CLOSING;
            return emit(s, TEXT_INDEX);
        }
        mark(s);
        s->has_text = true;
        state->before = OTHER;
    }
    *reference = NO_REFERENCE;
    return false;
}

static bool path_found(Scan *s, enum Token token) {
    s->state->references[s->state->level] = AFTER_PATH;
    s->state->before = WORD_BYTE;
    return emit(s, token);
}
