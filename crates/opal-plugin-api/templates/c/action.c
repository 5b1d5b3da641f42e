#include "json.h"
#include "opal.h"

// Called when the step runs. The output is JSON of the type in `dim.yaml`.
bool exports_opal_plugin_action_act(exports_opal_plugin_action_call_t *call,
                                    exports_opal_plugin_action_own_probe_t probe,
                                    exports_opal_plugin_action_own_stage_t stage,
                                    exports_opal_plugin_action_acted_t *ret,
                                    exports_opal_plugin_action_error_t *err) {
    const char *args = (const char *)call->args.ptr;
    char *path = json_field(args, call->args.len, "path");
    char *line = json_field(args, call->args.len, "line");
    opal_string_t file;
    opal_string_set(&file, path);
    opal_list_u8_t old = {0};
    if (!opal_plugin_host_method_probe_read(opal_plugin_host_borrow_probe(probe), &file, &old, err)) {
        if (err->kind != OPAL_PLUGIN_HOST_ERROR_KIND_MISSING) return false;
        old.len = 0;
    }
    size_t length = strlen(line);
    opal_list_u8_t new = {malloc(old.len + length + 1), old.len + length + 1};
    if (old.len > 0) memcpy(new.ptr, old.ptr, old.len);
    memcpy(new.ptr + old.len, line, length);
    new.ptr[old.len + length] = '\n';
    if (!opal_plugin_host_method_stage_write(opal_plugin_host_borrow_stage(stage), &file, &new, NULL, err))
        return false;
    // A number has at most 20 digits.
    char *quoted = json_text(path), *json = malloc(strlen(quoted) + 48), digits[24], *at = digits + 23;
    *at = 0;
    for (size_t left = new.len; left > 0; left /= 10) *--at = '0' + left % 10;
    strcpy(json, "{\"bytes\":");
    strcat(strcat(strcat(strcat(json, at), ",\"path\":"), quoted), "}");
    opal_string_dup(&ret->output, json);
    ret->identity.is_some = false;
    ret->adopted = false;
    // What is not freed here ends with the instance: each call has a new one.
    opal_plugin_host_probe_drop_own(probe);
    opal_plugin_host_stage_drop_own(stage);
    return true;
}
