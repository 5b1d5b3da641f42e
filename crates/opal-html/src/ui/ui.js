"use strict";
// What happens to a run or to a question, as it happens. Everything is set as text.
(() => {
  const MOST = 2000;
  const live = document.getElementById("live");
  const asking = document.getElementById("asking");
  if (!live && !asking) return;
  const state = document.getElementById("live-state");
  const events = new EventSource(location.pathname + "/events");
  const on = (name, act) => events.addEventListener(name, (event) => act(JSON.parse(event.data)));
  let said = null;
  const isAtEnd = () => live.scrollHeight - live.scrollTop - live.clientHeight < 40;
  const add = (kind, text, title) => {
    const follow = isAtEnd();
    const element = document.createElement(kind);
    element.textContent = text;
    if (title) element.title = title;
    live.append(element);
    while (live.childElementCount > MOST) live.firstElementChild.remove();
    if (follow) live.scrollTop = live.scrollHeight;
    return element;
  };
  // The server tells everything again to whoever comes back.
  events.onopen = () => {
    if (!live) return;
    live.replaceChildren();
    said = null;
    state.textContent = "connected";
  };
  events.onerror = () => {
    if (!live) return;
    state.textContent = events.readyState === EventSource.CLOSED ? "not connected: load the page again" : "connecting";
  };
  on("step", (step) => {
    add("p", (step.target ? step.target + ": " : "") + step.text, step.path);
    said = null;
  });
  on("ended", (step) => {
    if (step.end !== "done" && step.end !== "satisfied") add("p", step.end + ": " + step.path, step.message);
    said = null;
  });
  on("output", (output) => {
    if (!said || said.step !== output.step || said.element.textContent.length > 20000) {
      said = { step: output.step, element: add("pre", "") };
    }
    const follow = isAtEnd();
    said.element.append(output.text);
    if (follow) live.scrollTop = live.scrollHeight;
  });
  on("over", () => {
    events.close();
    location.reload();
  });
})();
