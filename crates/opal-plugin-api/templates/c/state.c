#include "json.h"
#include "opal.h"

static char *joined(const char *first, const char *middle, const char *last) {
    char *text = malloc(strlen(first) + strlen(middle) + strlen(last) + 1);
    return strcat(strcat(strcpy(text, first), middle), last);
}

// Compares. It gets no way to change anything. An error means: it cannot be verified.
bool exports_opal_plugin_state_verify(exports_opal_plugin_state_call_t *call,
                                      exports_opal_plugin_state_own_probe_t probe,
                                      exports_opal_plugin_state_finding_t *ret,
                                      exports_opal_plugin_state_error_t *err) {
    const char *args = (const char *)call->args.ptr;
    char *path = json_field(args, call->args.len, "path");
    char *content = json_field(args, call->args.len, "content");
    opal_string_t file;
    opal_string_set(&file, path);
    opal_list_u8_t found = {0};
    const char *message = "` has this content";
    ret->status = EXPORTS_OPAL_PLUGIN_STATE_STATUS_SATISFIED;
    if (!opal_plugin_host_method_probe_read(opal_plugin_host_borrow_probe(probe), &file, &found, err)) {
        if (err->kind != OPAL_PLUGIN_HOST_ERROR_KIND_MISSING) return false;
        ret->status = EXPORTS_OPAL_PLUGIN_STATE_STATUS_MISSING;
        message = "` does not exist";
    } else if (found.len != strlen(content) || memcmp(found.ptr, content, found.len) != 0) {
        ret->status = EXPORTS_OPAL_PLUGIN_STATE_STATUS_DRIFTED;
        message = "` has another content";
    }
    opal_string_dup(&ret->message, joined("the file `", path, message));
    ret->details.is_some = false;
    ret->identity.is_some = true;
    opal_string_dup(&ret->identity.val, path);
    // What is not freed here ends with the instance: each call has a new one.
    opal_plugin_host_probe_drop_own(probe);
    return true;
}

// Applies. opal verifies before and afterwards.
bool exports_opal_plugin_action_act(exports_opal_plugin_action_call_t *call,
                                    exports_opal_plugin_action_own_probe_t probe,
                                    exports_opal_plugin_action_own_stage_t stage,
                                    exports_opal_plugin_action_acted_t *ret,
                                    exports_opal_plugin_action_error_t *err) {
    const char *args = (const char *)call->args.ptr;
    char *path = json_field(args, call->args.len, "path");
    char *content = json_field(args, call->args.len, "content");
    opal_string_t file;
    opal_string_set(&file, path);
    opal_list_u8_t bytes = {(uint8_t *)content, strlen(content)};
    if (!opal_plugin_host_method_stage_write(opal_plugin_host_borrow_stage(stage), &file, &bytes, NULL, err))
        return false;
    opal_string_dup(&ret->output, "null");
    ret->identity.is_some = true;
    opal_string_dup(&ret->identity.val, path);
    ret->adopted = false;
    opal_plugin_host_probe_drop_own(probe);
    opal_plugin_host_stage_drop_own(stage);
    return true;
}
