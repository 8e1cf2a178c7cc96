// Run search from a disk. Browsers start no workers on pages opened as file://, so search's worker runs in a
// hidden frame of the page instead. On pages from a server this file changes nothing.
if (location.protocol === "file:") {
  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const base = new URL(url, document.baseURI);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const load = (source) => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = new URL(source, base);
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${script.src} does not load`));
        inside.document.body.append(script);
      });
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.frame = frame;
      this.loaded = load(base);
    }

    postMessage(data) {
      this.loaded.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }
  // search looks for this name, and then takes its languages from the folder of its script
  window.IFrameWorker = window.Worker = IFrameWorker;
}
