import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.wrapper import Opened
from wit_world.imports.host import Error, ErrorKind


class Wrapper(exports.Wrapper):
    # Called before the block. The token goes to `end`, and into the record of the run.
    def begin(self, call, probe, stage):
        path = json.loads(call.args)["path"]
        exists = True
        try:
            probe.read(path)
        except Err as error:
            if error.value.kind != ErrorKind.MISSING:
                raise
            exists = False
        if exists:
            help = "wait until the other run is done, or remove the file"
            raise Err(Error(ErrorKind.FAILED, f"the file `{path}` exists", [help]))
        # Before it exists: then `end` is called, whatever happens next.
        stage.keep(path)
        stage.write(path, b"locked", None)
        return Opened(path, [("LOCK_FILE", path)])

    # Called after the block, also after a failure and after Ctrl+C.
    def end(self, call, token, outcome, stage):
        try:
            stage.remove(token)
        except Err as error:
            if error.value.kind != ErrorKind.MISSING:
                raise
