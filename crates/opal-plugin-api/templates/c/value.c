#include "json.h"
#include "opal.h"

// Called while opal plans. What it returns is JSON of the type in `dim.yaml`.
bool exports_opal_plugin_value_resolve(exports_opal_plugin_value_call_t *call,
                                       exports_opal_plugin_value_own_probe_t probe,
                                       exports_opal_plugin_value_json_t *ret,
                                       exports_opal_plugin_value_error_t *err) {
    const char *args = (const char *)call->args.ptr;
    char *name = json_field(args, call->args.len, "name");
    char *style = json_field(args, call->args.len, "style");
    const char *hello = strcmp(style, "short") == 0 ? "hi, " : "good day, ";
    char *text = malloc(strlen(hello) + strlen(name) + 1);
    strcpy(text, hello);
    strcat(text, name);
    char *json = json_text(text);
    opal_string_dup(ret, json);
    free(json);
    free(text);
    free(style);
    free(name);
    exports_opal_plugin_value_call_free(call);
    opal_plugin_host_probe_drop_own(probe);
    return true;
}
