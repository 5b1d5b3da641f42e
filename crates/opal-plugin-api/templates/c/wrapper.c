#include "json.h"
#include "opal.h"

static char *joined(const char *first, const char *middle, const char *last) {
    char *text = malloc(strlen(first) + strlen(middle) + strlen(last) + 1);
    return strcat(strcat(strcpy(text, first), middle), last);
}

// Called before the block. The token goes to `end`, and into the record of the run.
bool exports_opal_plugin_wrapper_begin(exports_opal_plugin_wrapper_call_t *call,
                                       exports_opal_plugin_wrapper_own_probe_t probe,
                                       exports_opal_plugin_wrapper_own_stage_t stage,
                                       exports_opal_plugin_wrapper_opened_t *ret,
                                       exports_opal_plugin_wrapper_error_t *err) {
    char *path = json_field((const char *)call->args.ptr, call->args.len, "path");
    opal_string_t file;
    opal_string_set(&file, path);
    opal_list_u8_t found = {0};
    if (opal_plugin_host_method_probe_read(opal_plugin_host_borrow_probe(probe), &file, &found, err)) {
        err->kind = OPAL_PLUGIN_HOST_ERROR_KIND_FAILED;
        opal_string_dup(&err->message, joined("the file `", path, "` exists"));
        err->help.ptr = malloc(sizeof(opal_string_t));
        err->help.len = 1;
        opal_string_dup(err->help.ptr, "wait until the other run is done, or remove the file");
        return false;
    }
    if (err->kind != OPAL_PLUGIN_HOST_ERROR_KIND_MISSING) return false;
    opal_plugin_host_borrow_stage_t effects = opal_plugin_host_borrow_stage(stage);
    opal_list_u8_t locked = {(uint8_t *)"locked", 6};
    // Before it exists: then `end` is called, whatever happens next.
    if (!opal_plugin_host_method_stage_keep(effects, &file, err)) return false;
    if (!opal_plugin_host_method_stage_write(effects, &file, &locked, NULL, err)) return false;
    opal_string_dup(&ret->token, path);
    ret->env.ptr = malloc(sizeof(opal_tuple2_string_string_t));
    ret->env.len = 1;
    opal_string_dup(&ret->env.ptr[0].f0, "LOCK_FILE");
    opal_string_dup(&ret->env.ptr[0].f1, path);
    // What is not freed here ends with the instance: each call has a new one.
    opal_plugin_host_probe_drop_own(probe);
    opal_plugin_host_stage_drop_own(stage);
    return true;
}

// Called after the block, also after a failure and after Ctrl+C.
bool exports_opal_plugin_wrapper_end(exports_opal_plugin_wrapper_call_t *call, opal_string_t *token,
                                     exports_opal_plugin_wrapper_outcome_t *outcome,
                                     exports_opal_plugin_wrapper_own_stage_t stage,
                                     exports_opal_plugin_wrapper_error_t *err) {
    bool is_removed =
        opal_plugin_host_method_stage_remove(opal_plugin_host_borrow_stage(stage), token, err);
    if (!is_removed && err->kind != OPAL_PLUGIN_HOST_ERROR_KIND_MISSING) return false;
    opal_plugin_host_stage_drop_own(stage);
    return true;
}
