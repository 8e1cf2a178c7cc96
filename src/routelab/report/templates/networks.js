// Pictures of networks: the channel that a reader points at, taps or reaches by the arrow keys is
// marked in all pictures of its network, and its value is shown in each.
{
  const REACH = 22; // pixels from a channel within which it is meant
  const SVG = "http://www.w3.org/2000/svg";

  const svgElement = (name, className, parent) => {
    const made = document.createElementNS(SVG, name);
    made.setAttribute("class", className);
    return parent.appendChild(made);
  };

  const distance = (x, y, [ax, ay, bx, by]) => {
    const dx = bx - ax, dy = by - ay;
    const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    return Math.hypot(x - ax - along * dx, y - ay - along * dy);
  };

  class Panel {
    constructor(element) {
      this.svg = element.querySelector("svg");
      this.title = element.querySelector(".title").textContent;
      this.reading = element.querySelector(".reading");
      this.note = this.reading.textContent;
      this.channels = new Map();
      for (const path of element.querySelectorAll("path[data-c]")) {
        const text = path.querySelector("title").textContent;
        path.querySelector("title").remove(); // the browser's own tooltip would lie over ours
        const cut = text.lastIndexOf(": ");
        const d = path.getAttribute("d");
        const lines = d.slice(1).split("M").map((line) => line.split(/[ L]/).map(Number));
        this.channels.set(Number(path.dataset.c), {
          d, lines, name: text.slice(0, cut), value: text.slice(cut + 2),
        });
      }
      this.order = [...this.channels.keys()].reverse(); // the busiest first
      this.halo = svgElement("path", "halo", this.svg);
      this.mark = svgElement("path", "chosen", this.svg);
      this.tip = document.createElement("div");
      this.tip.className = "tip";
      this.tip.setAttribute("aria-hidden", "true");
      this.tip.hidden = true;
      element.append(this.tip);
      this.element = element;
      this.svg.setAttribute("tabindex", "0");
    }

    /** The channel nearest to a place on the screen, or null. */
    at(event) {
      const toPicture = this.svg.getScreenCTM().inverse();
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPicture);
      let best = null, least = REACH * toPicture.a;
      for (const [number, channel] of this.channels) {
        for (const line of channel.lines) {
          const here = distance(x, y, line);
          if (here < least) [best, least] = [number, here];
        }
      }
      return best;
    }

    show(number, label) {
      const channel = this.channels.get(number);
      for (const path of [this.halo, this.mark]) path.setAttribute("d", channel?.d ?? "");
      this.reading.textContent = channel ? `${channel.name}: ${label} ${channel.value}` : this.note;
      this.reading.classList.toggle("chosen", Boolean(channel));
    }

    showTip(number, label) {
      const channel = this.channels.get(number);
      this.tip.hidden = !channel;
      if (!channel) return;
      const name = document.createElement("b");
      name.textContent = channel.name;
      this.tip.replaceChildren(name, `${label} ${channel.value}`);
      const [ax, ay, bx, by] = channel.lines[0];
      const place = new DOMPoint((ax + bx) / 2, (ay + by) / 2).matrixTransform(this.svg.getScreenCTM());
      const frame = this.element.getBoundingClientRect();
      const half = this.tip.offsetWidth / 2;
      const x = Math.min(Math.max(place.x - frame.left, half), frame.width - half);
      this.tip.style.left = `${x}px`;
      this.tip.style.top = `${place.y - frame.top - this.tip.offsetHeight - 14}px`;
    }
  }

  for (const figure of document.querySelectorAll(".network")) {
    const label = figure.dataset.label;
    const status = figure.querySelector("[role=status]");
    const panels = [...figure.querySelectorAll(".panel")].map((element) => new Panel(element));
    let chosen = null, pinned = false;

    const choose = (panel, number, pin = false) => {
      chosen = number;
      pinned = pin && number !== null;
      const linked = number === null
        ? [] : panels.filter((other) => other.element.dataset.network === panel.element.dataset.network);
      for (const other of panels) {
        other.show(linked.includes(other) ? number : null, label);
        other.showTip(other === panel ? number : null, label);
      }
      status.textContent = !pinned ? "" : `${panel.channels.get(number).name}, ${label}: `
        + linked.map((other) => `${other.title} ${other.channels.get(number).value}`).join("; ");
    };

    for (const panel of panels) {
      const { svg, order } = panel;
      if (!order.length) continue;
      svg.addEventListener("pointermove", (event) => {
        if (event.pointerType !== "touch" && !pinned) choose(panel, panel.at(event));
      });
      svg.addEventListener("pointerleave", (event) => {
        if (event.pointerType !== "touch" && !pinned) choose(panel, null);
      });
      svg.addEventListener("click", (event) => {
        const number = panel.at(event);
        choose(panel, pinned && number === chosen ? null : number, true);
      });
      svg.addEventListener("focus", () => {
        if (svg.matches(":focus-visible")) choose(panel, panel.channels.has(chosen) ? chosen : order[0], true);
      });
      svg.addEventListener("keydown", (event) => {
        const at = order.indexOf(chosen), last = order.length - 1;
        const next = {
          ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
          ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last,
        }[event.key];
        if (event.key === "Escape") choose(panel, null);
        else if (next !== undefined) choose(panel, order[next], true);
        else return;
        event.preventDefault();
      });
    }
    figure.addEventListener("focusout", (event) => {
      if (!figure.contains(event.relatedTarget)) choose(panels[0], null);
    });
  }
}
