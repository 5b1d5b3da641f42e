// The shell lane: one step, with a stack of what is open in it.

#include "scan.h"

static inline Frame *top(Scan *s) { return &s->state->frames[s->state->depth]; }
static inline bool holds_commands(uint8_t kind) { return kind <= IF; }

static void begin_step(State *state, bool operand) {
    state->depth = 0;
    state->frames[0] = (Frame){STEP, operand ? AT_COMMAND : 0};
    state->word_length = 0;
}

static void begin_word(Scan *s) {
    Frame *frame = top(s);
    frame->flags &= (uint8_t)~CONTINUES;
    if (!(frame->flags & IN_WORD)) s->state->word_length = 0;
    frame->flags |= IN_WORD;
}

static void no_keyword(Scan *s) { s->state->word_length = MAX_WORD + 1; }

static void push(Scan *s, uint8_t kind, uint8_t flags) {
    if (s->state->depth + 1 < MAX_FRAMES) s->state->frames[++s->state->depth] = (Frame){kind, flags};
    s->state->word_length = 0;
}

static void pop(Scan *s) {
    if (s->state->depth > 0) s->state->depth--;
    no_keyword(s);
}

static void close_compound(Scan *s) {
    pop(s);
    top(s)->flags &= (uint8_t)~(AT_COMMAND | IN_WORD);
}

static bool word_is(const State *state, const char *word) {
    size_t length = strlen(word);
    return state->word_length == length && !memcmp(state->word, word, length);
}

// The first word of a command; whether something opened or closed.
static bool end_command_word(Scan *s) {
    State *state = s->state;
    Frame *frame = top(s);
    static const struct { const char *word; uint8_t opens, flags; } OPENS[] = {
        {"if", IF, AT_COMMAND}, {"case", CASE, NAMES}, {"for", LOOP, NAMES}, {"select", LOOP, NAMES},
        {"while", LOOP, AT_COMMAND}, {"until", LOOP, AT_COMMAND}, {"[[", TEST, 0},
    };
    static const struct { const char *word; uint8_t closes; } CLOSES[] = {{"fi", IF}, {"done", LOOP}, {"esac", CASE}};
    static const char *const KEYWORDS[] = {"then", "else", "elif", "do", "!", "{", "time", "coproc"};
    static const char *const DECLARING[] = {"export", "declare", "local", "readonly", "typeset"};
    for (unsigned i = 0; i < sizeof OPENS / sizeof *OPENS; i++) {
        if (!word_is(state, OPENS[i].word)) continue;
        frame->flags &= (uint8_t)~AT_COMMAND;
        push(s, OPENS[i].opens, OPENS[i].flags);
        return true;
    }
    for (unsigned i = 0; i < sizeof CLOSES / sizeof *CLOSES; i++) {
        if (!word_is(state, CLOSES[i].word)) continue;
        if (frame->kind != CLOSES[i].closes) return false;
        close_compound(s);
        return true;
    }
    for (unsigned i = 0; i < sizeof KEYWORDS / sizeof *KEYWORDS; i++) {
        if (word_is(state, KEYWORDS[i])) return false;
    }
    frame->flags &= (uint8_t)~AT_COMMAND;
    for (unsigned i = 0; i < sizeof DECLARING / sizeof *DECLARING; i++) {
        if (word_is(state, DECLARING[i])) frame->flags |= DECLARES;
    }
    return false;
}

// Ends the word before the position; whether something opened or closed.
static bool end_word(Scan *s) {
    Frame *frame = top(s);
    if (!(frame->flags & IN_WORD)) return false;
    frame->flags &= (uint8_t)~IN_WORD;
    bool assigns = frame->flags & ASSIGNS;
    frame->flags &= (uint8_t)~ASSIGNS;
    if (frame->flags & REDIRECTS) {
        frame->flags &= (uint8_t)~REDIRECTS;
        return false;
    }
    if (assigns) return false;
    if (frame->flags & PATTERNS) {
        if (frame->kind != CASE || !word_is(s->state, "esac")) return false;
        close_compound(s);
        return true;
    }
    if (frame->flags & AT_COMMAND) return end_command_word(s);
    if (frame->kind == CASE && (frame->flags & NAMES) && word_is(s->state, "in")) frame->flags = PATTERNS;
    return false;
}

static void next_command(Scan *s, bool continues) {
    top(s)->flags = AT_COMMAND | (continues ? CONTINUES : 0) | (top(s)->flags & NAMES);
}

// `<<WORD`; the position is after the `<<`.
static void heredoc_operator(Scan *s) {
    State *state = s->state;
    Heredoc heredoc = {0};
    if (next(s) == '-') {
        heredoc.tabs = 1;
        take(s);
    }
    while (is_blank(next(s))) take(s);
    int32_t quote = 0;
    while (!at_end(s) && next(s) != '\n') {
        int32_t c = next(s);
        if (!quote && one_of(c, " \t\r;&|<>()`")) break;
        take(s);
        if (c == quote) {
            quote = 0;
            continue;
        }
        if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            heredoc.literal = 1;
            continue;
        }
        if (c == '\\') {
            heredoc.literal = 1;
            bool keeps = quote && (quote == '\'' || !one_of(next(s), "\"\\$`"));
            if (!keeps && !at_end(s) && next(s) != '\n') {
                c = next(s);
                take(s);
            }
        }
        if (heredoc.length < MAX_DELIMITER) heredoc.delimiter[heredoc.length++] = (char)c;
    }
    if (heredoc.length && state->heredoc_count < MAX_HEREDOCS) state->heredocs[state->heredoc_count++] = heredoc;
}

// The position is at the start of a line of the first heredoc: whether that was its last line.
static bool ends_heredoc(Scan *s) {
    Heredoc *heredoc = &s->state->heredocs[0];
    while (heredoc->tabs && next(s) == '\t') take(s);
    unsigned at = 0;
    while (at < heredoc->length && next(s) == (uint8_t)heredoc->delimiter[at]) {
        take(s);
        at++;
    }
    if (at < heredoc->length) return false;
    while (next(s) == '\r') take(s);
    if (next(s) != '\n' && !at_end(s)) return false;
    bool ends = heredoc->ends;
    memmove(heredoc, heredoc + 1, sizeof *heredoc * (MAX_HEREDOCS - 1));
    memset(&s->state->heredocs[MAX_HEREDOCS - 1], 0, sizeof *heredoc);
    s->state->heredoc_count--;
    pop(s);
    top(s)->flags &= (uint8_t)~IN_WORD;
    if (ends && s->state->heredoc_count) s->state->heredocs[0].ends = 1;
    else if (ends) s->state->is_done = true;
    return true;
}

// Begins the body of the first heredoc; the position is on the line feed before it.
static void begin_heredoc(Scan *s, bool ends) {
    s->state->heredocs[0].ends = ends;
    push(s, HEREDOC, 0);
    take(s);
    while (!at_end(s)) {
        if (ends_heredoc(s)) return;
        if (!s->state->heredocs[0].literal) return;
        while (!at_end(s) && next(s) != '\n') take(s);
        if (!at_end(s)) take(s);
    }
}

static void raw_quote(Scan *s, bool escapes) {
    take(s);
    while (!at_end(s) && next(s) != '\'') {
        if (escapes && next(s) == '\\') take(s);
        if (!at_end(s)) take(s);
    }
    if (!at_end(s)) take(s);
}

static void dollar(Scan *s) {
    bool quoted = top(s)->kind == QUOTE || top(s)->kind == HEREDOC;
    take(s);
    int32_t c = next(s);
    if (c == '(') {
        take(s);
        if (next(s) != '(') return push(s, SUBSTITUTION, AT_COMMAND);
        take(s);
        push(s, ARITHMETIC, 0);
        push(s, ARITHMETIC, 0);
    } else if (c == '{') {
        take(s);
        push(s, EXPANSION, 0);
        if (next(s) == '#') take(s);
    } else if (c == '[') {
        take(s);
        push(s, OLD_SUM, 0);
    } else if (c == '\'' && !quoted) {
        raw_quote(s, true);
    } else if ((c >= '1' && c <= '9') || one_of(c, "@*#")) {
        take(s);
    }
}

// Whether the text must end before the position, where a token of another kind begins.
typedef enum { GO_ON, STOP, FOUND } Result;

// The step ends at the position.
static Result stop(Scan *s) {
    if (!s->has_text) mark(s);
    return STOP;
}

// `\` and what it protects; `\@` is a token of its own, and `\` at the end of a line is a blank.
static Result backslash(Scan *s) {
    bool had_text = s->has_text;
    advance(s);
    if (next(s) == '@') {
        if (had_text) return STOP;
        take(s);
        emit(s, SHELL_ESCAPE);
        return FOUND;
    }
    s->has_text = true;
    mark(s);
    if (next(s) == '\r') take(s);
    bool joins = next(s) == '\n';
    if (!at_end(s)) take(s);
    mark(s);
    s->state->before = joins ? BLANK : OTHER;
    return GO_ON;
}

static Result shell_at(Scan *s) {
    State *state = s->state;
    Frame *frame = top(s);
    bool is_base = state->depth == 0;
    bool begins = is_base && !(frame->flags & IN_WORD);
    bool operand = begins && (frame->flags & AT_COMMAND) && !(frame->flags & REDIRECTS);
    bool target = begins && (frame->flags & REDIRECTS);
    bool had_text = s->has_text;
    if (!had_text) mark(s);
    At at = read_at(s, true, !had_text);
    bool is_unknown = at.is == UNKNOWN || at.is == WORD;
    bool is_call = (operand && at.is == KNOWN && (at.kind & ACTION)) || (operand && state->is_first && is_unknown) ||
                   (target && at.is == KNOWN && ((at.kind & ENDPOINT) || !(at.kind & VALUE)));
    if ((is_call || at.is == KNOWN || at.is == UNKNOWN) && had_text) return STOP;
    if (is_call) {
        begin_step(state, false);
        path_found(s, at.kind & TEXT ? TEXT_DECORATOR : DECORATOR);
        state->references[state->level] = AFTER_CALL;
        return FOUND;
    }
    if (holds_commands(frame->kind)) {
        begin_word(s);
        no_keyword(s);
    }
    if (at.is == KNOWN || at.is == UNKNOWN) {
        path_found(s, TEXT_PATH);
        return FOUND;
    }
    mark(s);
    s->has_text = true;
    state->before = at.is == LITERAL ? OTHER : WORD_BYTE;
    return GO_ON;
}

// One character that the shell expands.
static Result expand(Scan *s) {
    switch (next(s)) {
    case '\\': return backslash(s);
    case '@': return shell_at(s);
    case '$': dollar(s); return GO_ON;
    case '`':
        take(s);
        push(s, BACKTICK, AT_COMMAND);
        return GO_ON;
    default: take(s); return GO_ON;
    }
}

static bool is_quoted(const Scan *s) {
    for (int at = s->state->depth - 1; at >= 0; at--) {
        uint8_t kind = s->state->frames[at].kind;
        if (kind == QUOTE || kind == HEREDOC) return true;
        if (holds_commands(kind)) return false;
    }
    return false;
}

// What is not made of commands.
static Result inner(Scan *s) {
    uint8_t kind = top(s)->kind;
    int32_t c = next(s);
    if (kind == HEREDOC) {
        if (c != '\n') return expand(s);
        take(s);
        ends_heredoc(s);
        return GO_ON;
    }
    if (kind == QUOTE) {
        if (c == '"') {
            take(s);
            pop(s);
            return GO_ON;
        }
        bool in_backticks = s->state->depth && s->state->frames[s->state->depth - 1].kind == BACKTICK;
        if (c == '`' && in_backticks) {
            take(s);
            return GO_ON;
        }
        return expand(s);
    }
    bool closes = (kind == ARITHMETIC && c == ')') || (kind == OLD_SUM && c == ']') ||
                  ((kind == EXPANSION || kind == BRACE) && c == '}');
    bool opens = (kind == ARITHMETIC && c == '(') || (kind == BRACE && c == '{') || (kind == OLD_SUM && c == '[');
    if (closes || opens) {
        take(s);
        if (closes) pop(s);
        else push(s, kind, 0);
    } else if (kind == EXPANSION && c == '{') {
        // `${X:-{}}`
        take(s);
        if (next(s) == '}') {
            take(s);
            if (next(s) != '}') pop(s);
        }
    } else if (c == '\'' && (kind == EXPANSION || kind == BRACE) && !is_quoted(s)) {
        raw_quote(s, false);
    } else if (c == '"') {
        take(s);
        push(s, QUOTE, 0);
    } else {
        return expand(s);
    }
    return GO_ON;
}

static void line_comment(Scan *s) {
    bool in_backticks = top(s)->kind == BACKTICK;
    while (!at_end(s) && next(s) != '\n' && !(in_backticks && next(s) == '`')) {
        bool is_return = next(s) == '\r';
        advance(s);
        if (!is_return) mark(s);
    }
    s->state->before = BLANK;
}

// A `#` or `//` where a comment can be; text before it ends there.
static Result comment(Scan *s, bool ends_step) {
    if (s->has_text || ends_step) return STOP;
    line_comment(s);
    emit(s, COMMENT);
    return FOUND;
}

static Result test(Scan *s) {
    int32_t c = next(s);
    bool after_blank = s->state->before == BLANK;
    if (c == '\'') {
        raw_quote(s, false);
    } else if (c == '"') {
        take(s);
        push(s, QUOTE, 0);
    } else if (c == '#' && after_blank) {
        return comment(s, false);
    } else if (c == ']' && after_blank) {
        take(s);
        if (next(s) == ']') {
            take(s);
            if (at_end(s) || one_of(next(s), " \t\r\n;&|)}`")) close_compound(s);
        }
    } else {
        return expand(s);
    }
    return GO_ON;
}

static Result redirection(Scan *s) {
    Frame *frame = top(s);
    State *state = s->state;
    bool digits = (frame->flags & IN_WORD) && state->word_length && state->word_length <= MAX_WORD;
    for (unsigned i = 0; digits && i < state->word_length; i++) digits = is_digit(state->word[i]);
    if (digits) frame->flags &= (uint8_t)~IN_WORD;
    int32_t first = next(s);
    if (end_word(s)) return GO_ON;
    take(s);
    if (first != '&' && next(s) == '(') {
        begin_word(s);
        take(s);
        push(s, SUBSTITUTION, AT_COMMAND);
        return GO_ON;
    }
    if (first == '<' && next(s) == '<') {
        take(s);
        if (next(s) != '<') {
            heredoc_operator(s);
            return GO_ON;
        }
        take(s);
    } else if (first == '&') {
        take(s);
        if (next(s) == '>') take(s);
    } else if (one_of(next(s), first == '<' ? ">&" : ">|&")) {
        take(s);
    }
    top(s)->flags |= REDIRECTS;
    return GO_ON;
}

static Result operator(Scan *s) {
    if (end_word(s)) return GO_ON;
    int32_t first = next(s);
    take(s);
    int32_t second = next(s);
    if (first == '&' && second == '>') {
        take(s);
        if (next(s) == '>') take(s);
        top(s)->flags |= REDIRECTS;
        return GO_ON;
    }
    bool is_double = (first == second) || (first == '|' && second == '&') || (first == ';' && second == '&');
    if (is_double) take(s);
    if (first == ';' && is_double && next(s) == '&') take(s);
    Frame *frame = top(s);
    if (frame->kind == CASE && ((frame->flags & PATTERNS) || (first == ';' && is_double))) frame->flags = PATTERNS;
    else next_command(s, first == '|' || (first == '&' && second == '&'));
    return GO_ON;
}

static Result line_feed(Scan *s) {
    if (end_word(s)) return GO_ON;
    bool is_base = s->state->depth == 0;
    bool ends = is_base && !(top(s)->flags & CONTINUES);
    if (s->state->heredoc_count && top(s)->kind != HEREDOC) {
        begin_heredoc(s, ends);
        return GO_ON;
    }
    if (ends) return stop(s);
    Frame *frame = top(s);
    if (!(frame->flags & PATTERNS)) {
        next_command(s, is_base);
        if (frame->kind == LIST) frame->flags &= (uint8_t)~AT_COMMAND;
    }
    take(s);
    return GO_ON;
}

static Result open_paren(Scan *s) {
    Frame *frame = top(s);
    bool new_word = !(frame->flags & IN_WORD), assigns = frame->flags & ASSIGNS;
    bool counted = frame->kind == LOOP && (frame->flags & NAMES);
    bool at_command = frame->flags & AT_COMMAND;
    if ((frame->flags & PATTERNS) && new_word) {
        take(s);
        return GO_ON;
    }
    begin_word(s);
    no_keyword(s);
    take(s);
    if ((at_command || counted) && new_word && next(s) == '(') {
        frame->flags &= (uint8_t)~AT_COMMAND;
        take(s);
        push(s, ARITHMETIC, 0);
        push(s, ARITHMETIC, 0);
    } else if (!new_word && !assigns && next(s) == ')') {
        // `name()`
        take(s);
        next_command(s, false);
    } else {
        push(s, assigns ? LIST : PAREN, assigns ? 0 : AT_COMMAND);
    }
    return GO_ON;
}

static Result braces(Scan *s) {
    Frame *frame = top(s);
    if (next(s) == '}') {
        if (end_word(s)) return GO_ON;
        if (s->state->depth == 0) return stop(s);
        take(s);
        if (frame->kind == GROUP) close_compound(s);
        else begin_word(s), no_keyword(s);
        return GO_ON;
    }
    bool new_word = !(frame->flags & IN_WORD), at_command = frame->flags & AT_COMMAND;
    take(s);
    if (new_word && at_command && (at_end(s) || is_space(next(s)))) {
        frame->flags &= (uint8_t)~CONTINUES;
        push(s, GROUP, AT_COMMAND);
    } else {
        begin_word(s);
        no_keyword(s);
        push(s, BRACE, 0);
    }
    return GO_ON;
}

// A character of a word.
static Result word(Scan *s) {
    State *state = s->state;
    int32_t c = next(s);
    begin_word(s);
    Frame *frame = top(s);
    bool is_name_before = state->word_length > 0 && state->word_length <= MAX_WORD;
    if (c == '=' && (frame->flags & (AT_COMMAND | DECLARES)) && !(frame->flags & REDIRECTS) && state->before != BLANK) {
        frame->flags |= ASSIGNS;
    }
    if (is_name_before || state->word_length == 0) {
        if (state->word_length < MAX_WORD && c < 128) state->word[state->word_length++] = (char)c;
        else no_keyword(s);
    }
    take(s);
    return GO_ON;
}

static Result commands(Scan *s) {
    State *state = s->state;
    Frame *frame = top(s);
    int32_t c = next(s);
    bool new_word = !(frame->flags & IN_WORD);
    switch (c) {
    case ' ': case '\t': case '\r':
        if (!end_word(s)) take(s);
        return GO_ON;
    case '\n': return line_feed(s);
    case '\\': {
        Result result = backslash(s);
        if (result != STOP && state->before != BLANK) begin_word(s), no_keyword(s);
        return result;
    }
    case '\'': begin_word(s); no_keyword(s); raw_quote(s, false); return GO_ON;
    case '"': begin_word(s); no_keyword(s); take(s); push(s, QUOTE, 0); return GO_ON;
    case '$': begin_word(s); no_keyword(s); dollar(s); return GO_ON;
    case '`':
        if (frame->kind != BACKTICK) {
            begin_word(s);
            no_keyword(s);
            take(s);
            push(s, BACKTICK, AT_COMMAND);
        } else if (!end_word(s)) {
            take(s);
            pop(s);
        }
        return GO_ON;
    case '@': return shell_at(s);
    case '#':
        if (!new_word) return word(s);
        if (!s->has_text) mark(s);
        return comment(s, state->depth == 0 && !(frame->flags & CONTINUES) && !state->heredoc_count);
    case '/': {
        if (!new_word || state->before != BLANK) return word(s);
        bool had_text = s->has_text, ends = state->depth == 0 && !(frame->flags & CONTINUES) && !state->heredoc_count;
        if (!had_text) mark(s);
        advance(s);
        bool is_comment = next(s) == '/';
        if (is_comment) {
            advance(s);
            is_comment = at_end(s) || is_space(next(s));
        }
        if (is_comment) return comment(s, had_text || ends);
        begin_word(s);
        no_keyword(s);
        mark(s);
        state->before = OTHER;
        s->has_text = true;
        return GO_ON;
    }
    case '(': return open_paren(s);
    case ')':
        if (end_word(s)) return GO_ON;
        take(s);
        if (frame->kind == PAREN || frame->kind == LIST || frame->kind == SUBSTITUTION) pop(s);
        else if (frame->kind == CASE) next_command(s, false);
        return GO_ON;
    case '{': case '}': return braces(s);
    case '<': case '>': return redirection(s);
    case ';': case '&': case '|': return operator(s);
    default: return word(s);
    }
}

static bool scan_shell(Scan *s) {
    State *state = s->state;
    const bool *valid = s->valid;
    bool is_call = valid[BLOCK_OPEN];
    if (access_of_text(s)) return true;
    if (is_call && !s->has_text) {
        // Nothing else may depend on what is valid: after an edit a call may have ended before its block is asked for.
        for (; is_blank(next(s)); skip(s)) state->before = BLANK;
        if (next(s) == '{') {
            advance(s);
            mark(s);
            return emit(s, BLOCK_OPEN);
        }
    }
    if (!valid[SHELL_TEXT]) {
        // After `let.NAME = @call`.
        while (is_blank(next(s))) skip(s);
        mark(s);
        return valid[STEP_END] && (at_end(s) || one_of(next(s), "\n}#/")) && emit(s, STEP_END);
    }
    if (!s->has_text) mark(s);
    Result result = state->is_done ? STOP : GO_ON;
    while (result == GO_ON && !at_end(s) && !state->is_done) {
        uint8_t kind = top(s)->kind;
        result = holds_commands(kind) ? commands(s) : kind == TEST ? test(s) : inner(s);
        if (s->has_text) state->is_first = false;
    }
    if (result == FOUND) {
        state->is_first = false;
        return true;
    }
    if (s->has_text) return emit(s, SHELL_TEXT);
    if (result != STOP) mark(s);
    state->is_done = false;
    state->heredoc_count = 0;
    begin_step(state, false);
    return valid[STEP_END] && emit(s, STEP_END);
}
