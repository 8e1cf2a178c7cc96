/** Make elements: SVG elements below a parent, and HTML elements with a text. */
const svgElement = (name, className, parent) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  made.setAttribute("class", className);
  return parent.appendChild(made);
};
const htmlElement = (name, text, more = {}) =>
  Object.assign(document.createElement(name), { textContent: text, ...more });

const distance = (x, y, ax, ay, bx, by) => {
  const dx = bx - ax, dy = by - ay;
  const along = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
};

/** One picture: its channels and, if the page has them, its routes and its cycle. */
class Panel {
  static REACH = 22; // pixels from a channel within which it is meant
  static SWITCH = 13; // units of the picture from the middle of a switch
  static SMALL = 4; // pixels from the middle of a switch, in large pictures
  static LISTED = 36; // pairs of a channel

  constructor(element, graph, places, large = null) {
    Object.assign(this, { element, graph, places, network: element.dataset.network });
    this.svg = element.querySelector("svg");
    this.title = element.querySelector(".title").textContent;
    this.reading = element.querySelector(".reading");
    this.note = this.reading.textContent;
    this.channels = large ? new LargeChannels(large.network, large.values) : this.drawnChannels();
    this.order = this.channels.order ?? [...this.channels.keys()].reverse(); // the busiest first
    this.path = svgElement("path", "route", this.svg);
    this.halo = svgElement("path", "halo", this.svg);
    this.mark = svgElement("path", "chosen", this.svg);
    this.ends = svgElement("g", "ends", this.svg);
    this.tip = htmlElement("div", "", { className: "tip", hidden: true });
    this.tip.setAttribute("aria-hidden", "true");
    this.detail = htmlElement("div", "", { className: "detail", hidden: true });
    element.append(this.tip, this.detail);
    this.svg.setAttribute("tabindex", "0");
    const data = large ? large.values : JSON.parse(element.querySelector("script.routes")?.textContent ?? "{}");
    this.routes = data.routes ? new Routes(graph, data) : null;
    this.unit = 0; // units of a pixel, in large pictures
    this.canvas = large ? new Canvas(this, large.network) : null;
  }

  /** The channels that the page has as SVG paths. */
  drawnChannels() {
    const channels = new Map();
    for (const path of this.element.querySelectorAll("path[data-c]")) {
      const text = path.querySelector("title").textContent;
      path.querySelector("title").remove(); // the browser's own tooltip would lie over ours
      const cut = text.lastIndexOf(": ");
      const d = path.getAttribute("d");
      const lines = d.slice(1).split("M").map((line) => line.split(/[ L]/).map(Number));
      channels.set(Number(path.dataset.c), {
        d, lines, name: text.slice(0, cut), value: text.slice(cut + 2),
      });
    }
    return channels;
  }

  place(event) {
    const toPicture = this.svg.getScreenCTM().inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toPicture);
    return [x, y, toPicture.a];
  }

  /** The channel nearest to a place on the screen, or null. */
  at(event) {
    const [x, y, unit] = this.place(event);
    let best = null, least = Panel.REACH * unit;
    if (this.channels.nearest) return this.channels.nearest(x, y, least);
    for (const [number, channel] of this.channels) {
      for (const line of channel.lines) {
        for (let at = 0; at < line.length - 4; at += 2) { // the last point is that of the barb
          const here = distance(x, y, ...line.slice(at, at + 4));
          if (here < least) [best, least] = [number, here];
        }
      }
    }
    return best;
  }

  /** The switch with terminals at a place on the screen, or null. */
  switchAt(event) {
    if (!this.routes) return null;
    const [x, y, unit] = this.place(event);
    const near = ([px, py]) => Math.hypot(x - px, y - py);
    const best = this.graph.endpoints.reduce(
      (one, other) => (near(this.places[other]) < near(this.places[one]) ? other : one));
    return near(this.places[best]) <= Math.max(Panel.SWITCH, Panel.SMALL * unit) ? best : null;
  }

  /** Make sure that a channel is in the shown section. */
  reveal(number) {
    this.canvas?.reveal(this.channels.get(number).lines[0]);
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
    this.tip.replaceChildren(htmlElement("b", channel.name), `${label} ${channel.value}`);
    const [ax, ay, bx, by] = channel.lines[0];
    const place = new DOMPoint((ax + bx) / 2, (ay + by) / 2).matrixTransform(this.svg.getScreenCTM());
    const frame = this.element.getBoundingClientRect();
    const half = this.tip.offsetWidth / 2;
    const x = Math.min(Math.max(place.x - frame.left, half), frame.width - half);
    this.tip.style.left = `${x}px`;
    this.tip.style.top = `${place.y - frame.top - this.tip.offsetHeight - 14}px`;
  }

  /** Draw channels as a route. */
  draw(channels) {
    this.path.setAttribute("d", channels.map((number) => this.channels.get(number).d).join(""));
    this.svg.classList.toggle("routed", channels.length > 0);
  }

  /** Mark switches: sources are rings, targets are filled. */
  markEnds(sources, targets) {
    this.ends.replaceChildren();
    for (const [className, switches] of [["from", sources], ["to", targets]]) {
      for (const at of new Set(switches)) {
        const circle = svgElement("circle", className, this.ends);
        const [cx, cy] = this.places[at];
        for (const [key, value] of Object.entries({ cx, cy })) circle.setAttribute(key, value);
      }
    }
    this.sizeEnds(this.unit);
  }

  /** Draw marks of switches large enough; `unit` is the units of a pixel, or 0 in small pictures. */
  sizeEnds(unit) {
    this.unit = unit;
    for (const circle of this.ends.children) {
      const [units, pixels] = circle.classList.contains("from") ? [12, 8] : [6, 5];
      circle.setAttribute("r", Math.max(units, pixels * unit));
    }
  }

  clear() {
    this.draw([]);
    this.markEnds([], []);
    this.detail.hidden = true;
    this.detail.replaceChildren();
  }

  /** Show the routes of a pair, hop by hop; return them as a sentence. */
  showPair(from, terminal, label) {
    const { names, source, target, terminals } = this.graph;
    const to = terminals[terminal];
    const paths = this.routes.paths(from, terminal);
    const ends = `${names[from]} to ${this.graph.destination(terminal, this.routes.perTerminal)}`;
    this.draw(paths.flatMap(({ channels }) => channels));
    this.markEnds([from], [to]);
    const told = [];
    this.detail.replaceChildren(htmlElement("p", `Route from ${ends}`, { className: "title" }));
    if (!paths.length) told.push(from === to ? "no hops inside one switch" : "no route");
    for (const { channels, share } of paths) {
      const hops = `${channels.length} ${channels.length === 1 ? "hop" : "hops"}`;
      const part = paths.length > 1 ? `, ${Math.round(1000 * share) / 10} % of the packets` : "";
      told.push(`${hops}${part}: ${[from, ...channels.map((c) => target[c])].map((at) => names[at]).join(", ")}`);
      const list = htmlElement("ol", "");
      for (const number of channels) {
        const { name, value } = this.channels.get(number);
        list.append(htmlElement("li", `${name} (${label} ${value})`));
      }
      this.detail.append(htmlElement("p", `${hops}${part}`), list);
    }
    if (!paths.length) this.detail.append(htmlElement("p", told[0]));
    this.detail.hidden = false;
    return `${this.title}: ${told.join(". ")}`;
  }

  /** List the pairs whose routes use a channel; `choose` gets the pair that a reader chooses. */
  showUsers(number, choose) {
    if (!this.routes) return "";
    const users = this.routes.users(number), { names, terminals } = this.graph;
    const load = Math.round(1000 * users.reduce((sum, user) => sum + user.load, 0)) / 1000;
    const many = `${users.length} ${users.length === 1 ? "pair uses" : "pairs use"} it`;
    const text = load === users.length ? many : `${many}, ${load} between terminals`;
    this.markEnds(users.map(({ from }) => from), users.map(({ terminal }) => terminals[terminal]));
    const list = htmlElement("p", "", { className: "pairs" });
    for (const { from, terminal } of users.slice(0, Panel.LISTED)) {
      const to = this.graph.destination(terminal, this.routes.perTerminal);
      const button = htmlElement("button", `${names[from]} → ${to}`, { type: "button" });
      button.addEventListener("click", () => choose(from, terminal));
      list.append(button, " ");
    }
    const more = users.length - Panel.LISTED;
    if (more > 0) list.append(`and ${more} more`);
    const name = this.channels.get(number).name;
    this.detail.replaceChildren(htmlElement("p", `${name}: ${text}`, { className: "title" }), list);
    this.detail.hidden = false;
    return `, ${text}`;
  }
}
