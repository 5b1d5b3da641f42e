import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.action import Acted
from wit_world.imports.host import ErrorKind


class Action(exports.Action):
    # Called when the step runs. The output is JSON of the type in `dim.yaml`.
    def act(self, call, probe, stage):
        args = json.loads(call.args)
        path = args["path"]
        try:
            before = probe.read(path)
        except Err as error:
            if error.value.kind != ErrorKind.MISSING:
                raise
            before = b""
        content = before + args["line"].encode() + b"\n"
        stage.write(path, content, None)
        return Acted(json.dumps({"path": path, "bytes": len(content)}), None, False)
