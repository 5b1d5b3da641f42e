// What an ordinary grammar cannot know: where a shell step ends, what an `@` begins, and where text ends.
//
// It follows crates/opal-syntax/src/lexer of opal. The lane is chosen by what is valid: text of a string, of a block, of
// a step (shell.h), or the language. It uses only functions that parsers in WebAssembly have.

#include <stdlib.h>

#include "shell.h"

// ---- Strings

static bool scan_string(Scan *s) {
    bool is_triple = s->valid[TRIPLE_TEXT];
    enum Token token = is_triple ? TRIPLE_TEXT : STRING_TEXT;
    s->state->before = s->state->references[s->state->level] == NO_REFERENCE ? OTHER : s->state->before;
    if (access_of_text(s)) return true;
    while (!at_end(s)) {
        int32_t c = next(s);
        if (c == '\\' || (c == '\n' && !is_triple)) break;
        if (c == '"') {
            mark(s);
            if (!is_triple) break;
            advance(s);
            if (next(s) == '"') {
                advance(s);
                if (next(s) == '"') break;
            }
            s->state->before = QUOTED;
            s->has_text = true;
            mark(s);
            continue;
        }
        if (c == '@') {
            mark(s);
            bool had_text = s->has_text;
            At at = read_at(s, true, !had_text);
            if (at.is == KNOWN || at.is == UNKNOWN) return had_text ? emit(s, token) : path_found(s, TEXT_PATH);
            s->has_text = true;
            s->state->before = at.is == LITERAL ? OTHER : WORD_BYTE;
            mark(s);
            continue;
        }
        advance(s);
        s->state->before = before_next(c);
        s->has_text = true;
        mark(s);
    }
    return s->has_text && emit(s, token);
}

// ---- Text blocks

static bool scan_block_text(Scan *s) {
    mark(s);
    bool is_empty = true, has_text = false, has_brace = false;
    while (!at_end(s) && next(s) != '\n') {
        if (next(s) == '}') {
            mark(s);
            has_brace = true;
            has_text |= !is_empty;
        }
        if (!is_blank(next(s))) is_empty = false;
        advance(s);
    }
    if (has_brace) return has_text && emit(s, BLOCK_TEXT);
    if (at_end(s)) return false;
    advance(s);
    bool has_line = false;
    while (!at_end(s)) {
        mark(s);
        unsigned blanks = 0;
        for (; is_blank(next(s)); blanks++) advance(s);
        if (next(s) == '}' && blanks <= s->state->indentation) return has_line && emit(s, BLOCK_TEXT);
        has_line = true;
        while (!at_end(s) && next(s) != '\n') advance(s);
        if (!at_end(s)) advance(s);
    }
    mark(s);
    return has_line && emit(s, BLOCK_TEXT);
}

// ---- The language

static bool scan_comment(Scan *s) {
    if (next(s) == '#') {
        line_comment(s);
        return emit(s, COMMENT);
    }
    advance(s);
    if (next(s) == '/') {
        line_comment(s);
        return emit(s, COMMENT);
    }
    if (next(s) != '*') return false;
    advance(s);
    while (!at_end(s)) {
        bool star = next(s) == '*';
        advance(s);
        if (star && next(s) == '/') {
            advance(s);
            mark(s);
            return emit(s, COMMENT);
        }
    }
    return false;
}

static bool is_construct(const char *word, unsigned length, int32_t after) {
    static const char *const WORDS[] = {"var", "fun", "when", "try", "if", "for", "while", "else", "catch", "finally"};
    if (!is_space(after) && !one_of(after, "({}") && after != 0) return false;
    for (unsigned i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (strlen(WORDS[i]) == length && !memcmp(WORDS[i], word, length)) return i < 7 || after != '(';
    }
    return false;
}

// `NAME = `, `NAME += `, `NAME++`; the position is after the name.
static bool is_assignment(Scan *s) {
    unsigned blanks = 0;
    for (; is_blank(next(s)); blanks++) advance(s);
    int32_t first = next(s);
    if (!one_of(first, "=+-*/%")) return false;
    advance(s);
    if (first != '=') {
        int32_t second = next(s);
        bool steps = !blanks && second == first && first == '+';
        if (!steps && second != '=') return false;
        advance(s);
        if (steps) {
            while (is_blank(next(s))) advance(s);
            return at_end(s) || one_of(next(s), "\n#}/");
        }
    }
    return blanks && (at_end(s) || is_space(next(s)) || next(s) == '}');
}

// What a statement is, by its first word. All of these tokens are empty.
static bool scan_statement(Scan *s) {
    const bool *valid = s->valid;
    State *state = s->state;
    char word[MAX_WORD + 1];
    unsigned length = 0;
    if (at_end(s) || next(s) == '{' || next(s) == '}') return false;
    begin_step(state, true);
    state->is_first = true;
    state->is_done = false;
    state->before = BLANK;
    state->level = 0;
    state->references[0] = NO_REFERENCE;
    if (!is_name_start(next(s))) return emit(s, STEP_BEGIN);
    for (; is_name(next(s)); length++) {
        if (length < MAX_WORD) word[length] = (char)next(s);
        advance(s);
    }
    int32_t after = at_end(s) ? '\n' : next(s);
    if (length <= MAX_WORD && is_construct(word, length, after)) {
        bool is_clause = word[0] == 'e' || word[0] == 'c' || (word[0] == 'f' && word[1] == 'i');
        return !is_clause && valid[CONSTRUCT] && emit(s, CONSTRUCT);
    }
    if (length == 3 && !memcmp(word, "let", 3) && after == '.') {
        advance(s);
        return emit(s, is_name_start(next(s)) && valid[CONSTRUCT] ? CONSTRUCT : STEP_BEGIN);
    }
    if (length == 6 && !memcmp(word, "import", 6) && (is_blank(after) || after == '?')) {
        if (after == '?') advance(s);
        bool has_blank = is_blank(next(s));
        while (is_blank(next(s))) advance(s);
        if (has_blank && one_of(next(s), "\"'") && valid[CONSTRUCT]) return emit(s, CONSTRUCT);
        return emit(s, STEP_BEGIN);
    }
    if (after == '-') {
        advance(s);
        if (next(s) == '-') {
            advance(s);
            bool has_blank = is_blank(next(s));
            while (is_blank(next(s))) advance(s);
            if (valid[ASSIGNMENT_BEGIN] && (at_end(s) || one_of(next(s), "\n#}/"))) return emit(s, ASSIGNMENT_BEGIN);
            if (has_blank) return emit(s, STEP_BEGIN);
        }
    }
    if (valid[LABEL_BEGIN] && (after == '-' || after == ':')) {
        while (is_name(next(s)) || next(s) == '-') advance(s);
        if (next(s) == ':') {
            advance(s);
            return emit(s, at_end(s) || is_space(next(s)) || next(s) == '{' ? LABEL_BEGIN : STEP_BEGIN);
        }
        return emit(s, STEP_BEGIN);
    }
    if (after == '-') return emit(s, STEP_BEGIN);
    return emit(s, valid[ASSIGNMENT_BEGIN] && is_assignment(s) ? ASSIGNMENT_BEGIN : STEP_BEGIN);
}

static bool scan_language(Scan *s) {
    State *state = s->state;
    const bool *valid = s->valid;
    unsigned blanks = 0;
    bool is_line = !state->has_begun;
    mark(s);
    for (; is_space(next(s)) || next(s) == 0xFEFF; skip(s)) {
        if (next(s) == '\n' && valid[END]) return emit(s, END);
        if (next(s) == '\n') is_line = true, blanks = 0;
        else if (next(s) != 0xFEFF) blanks++;
    }
    int32_t c = next(s);
    if (valid[END] && (at_end(s) || one_of(c, "}#)"))) return emit(s, END);
    mark(s);
    if (valid[TEXT_CLOSE] && c == ')') {
        advance(s);
        mark(s);
        if (state->level) state->level--;
        uint8_t *reference = &state->references[state->level];
        *reference = *reference == ENDING ? NO_REFERENCE : AFTER_ARGUMENTS;
        state->before = CLOSING;
        return emit(s, TEXT_CLOSE);
    }
    if (c == '@' && (valid[PATH] || valid[DECORATOR])) {
        At at = read_at(s, false, true);
        if (at.is == LITERAL) return false;
        if (valid[PATH]) return emit(s, PATH);
        begin_step(state, false);
        return path_found(s, at.kind & TEXT ? TEXT_DECORATOR : DECORATOR);
    }
    bool at_statement = valid[STEP_BEGIN] || valid[ARM_BEGIN];
    if (c == '#') return scan_comment(s);
    if (c == '/') {
        if (scan_comment(s)) return true;
        if (!at_statement || !valid[STEP_BEGIN]) return false;
    }
    if (!at_statement) return false;
    if (is_line) state->indentation = (uint16_t)(blanks < 60000 ? blanks : 60000);
    state->has_begun = true;
    if (valid[ARM_BEGIN]) return !at_end(s) && c != '}' && emit(s, ARM_BEGIN);
    if (c == '/') {
        begin_step(state, true);
        state->is_first = true;
        state->before = BLANK;
        state->level = 0;
        return emit(s, STEP_BEGIN);
    }
    return scan_statement(s);
}

void *tree_sitter_opal_external_scanner_create(void) { return calloc(1, sizeof(State)); }

void tree_sitter_opal_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_opal_external_scanner_serialize(void *payload, char *buffer) {
    memcpy(buffer, payload, sizeof(State));
    return sizeof(State);
}

void tree_sitter_opal_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    memset(payload, 0, sizeof(State));
    if (length == sizeof(State)) memcpy(payload, buffer, length);
}

bool tree_sitter_opal_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    Scan scan = {lexer, valid, payload, false};
    if (valid[ERROR]) return false;
    if (valid[STRING_TEXT] || valid[TRIPLE_TEXT]) return scan_string(&scan);
    if (valid[BLOCK_TEXT]) return scan_block_text(&scan);
    if (valid[SHELL_TEXT] || valid[STEP_END] || valid[BLOCK_OPEN]) return scan_shell(&scan);
    return scan_language(&scan);
}

_Static_assert(sizeof(State) <= TREE_SITTER_SERIALIZATION_BUFFER_SIZE, "the state is kept with each token");
