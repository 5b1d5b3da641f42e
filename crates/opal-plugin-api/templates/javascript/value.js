export const value = {
  // Called while opal plans. What it returns is JSON of the type in `dim.yaml`.
  resolve(call, probe) {
    const { name, style } = JSON.parse(call.args);
    const hello = style === "short" ? "hi" : "good day";
    return JSON.stringify(`${hello}, ${name}`);
  },
};
