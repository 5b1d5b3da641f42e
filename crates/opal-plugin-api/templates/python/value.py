import json

from wit_world import exports


class Value(exports.Value):
    # Called while opal plans. What it returns is JSON of the type in `dim.yaml`.
    def resolve(self, call, probe):
        args = json.loads(call.args)
        hello = "hi" if args.get("style") == "short" else "good day"
        return json.dumps(f"{hello}, {args['name']}")
