import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.action import Acted
from wit_world.exports.state import Finding, Status
from wit_world.imports.host import ErrorKind


class State(exports.State):
    # Compares. It gets no way to change anything. An error means: it cannot be verified.
    def verify(self, call, probe):
        args = json.loads(call.args)
        path, content = args["path"], args["content"]
        try:
            is_same = probe.read(path) == content.encode()
            status = Status.SATISFIED if is_same else Status.DRIFTED
            message = "has this content" if is_same else "has another content"
        except Err as error:
            if error.value.kind != ErrorKind.MISSING:
                raise
            status, message = Status.MISSING, "does not exist"
        return Finding(status, f"the file `{path}` {message}", None, path)


class Action(exports.Action):
    # Applies. opal verifies before and afterwards.
    def act(self, call, probe, stage):
        args = json.loads(call.args)
        stage.write(args["path"], args["content"].encode(), None)
        return Acted("null", args["path"], False)
