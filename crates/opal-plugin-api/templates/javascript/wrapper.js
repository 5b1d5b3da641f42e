const bytes = (text) => Uint8Array.from(unescape(encodeURIComponent(text)), (c) => c.charCodeAt(0));

// An error that opal shows: what is wrong, and what to do.
const failure = (kind, message, help) =>
  Object.assign(new Error(message), { payload: { kind, message, help: [help] } });

export const wrapper = {
  // Called before the block. The token goes to `end`, and into the record of the run.
  begin(call, probe, stage) {
    const { path } = JSON.parse(call.args);
    let exists = true;
    try {
      probe.read(path);
    } catch (error) {
      if (error.payload?.kind !== "missing") throw error;
      exists = false;
    }
    if (exists) {
      const help = "wait until the other run is done, or remove the file";
      throw failure("failed", `the file \`${path}\` exists`, help);
    }
    // Before it exists: then `end` is called, whatever happens next.
    stage.keep(path);
    stage.write(path, bytes("locked"), undefined);
    return { token: path, env: [["LOCK_FILE", path]] };
  },

  // Called after the block, also after a failure and after Ctrl+C.
  end(call, token, outcome, stage) {
    try {
      stage.remove(token);
    } catch (error) {
      if (error.payload?.kind !== "missing") throw error;
    }
  },
};
