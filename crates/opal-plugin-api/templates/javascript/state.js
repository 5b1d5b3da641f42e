const bytes = (text) => Uint8Array.from(unescape(encodeURIComponent(text)), (c) => c.charCodeAt(0));
const same = (a, b) => a.length === b.length && a.every((byte, index) => byte === b[index]);

export const state = {
  // Compares. It gets no way to change anything. An error means: it cannot be verified.
  verify(call, probe) {
    const { path, content } = JSON.parse(call.args);
    let [status, message] = ["drifted", "has another content"];
    try {
      if (same(probe.read(path), bytes(content))) [status, message] = ["satisfied", "has this content"];
    } catch (error) {
      if (error.payload?.kind !== "missing") throw error;
      [status, message] = ["missing", "does not exist"];
    }
    return { status, message: `the file \`${path}\` ${message}`, details: undefined, identity: path };
  },
};

export const action = {
  // Applies. opal verifies before and afterwards.
  act(call, probe, stage) {
    const { path, content } = JSON.parse(call.args);
    stage.write(path, bytes(content), undefined);
    return { output: "null", identity: path, adopted: false };
  },
};
