// Browsers do not start workers for pages opened from files. For such pages, the site's search runs in a hidden frame that behaves like a
// worker. The search script expects the name IFrameWorker and finds its own address in the frame.
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<body></body>";
      this.started = new Promise((resolve) => {
        this.frame.addEventListener("load", () => resolve(this.start(script)), { once: true });
      });
      document.body.append(this.frame);
    }

    start(script) {
      const scope = this.frame.contentWindow;
      const load = (address) =>
        new Promise((resolve, reject) => {
          const element = scope.document.createElement("script");
          Object.assign(element, { src: address, onload: resolve, onerror: reject });
          scope.document.body.append(element);
        });
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      scope.importScripts = async (...addresses) => {
        for (const address of addresses) await load(address);
      };
      return load(script);
    }

    async postMessage(data) {
      await this.started;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  }
  window.Worker = window.IFrameWorker = FrameWorker;
}
