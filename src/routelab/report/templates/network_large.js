/** Read what `pack` in packed.py wrote. */
const unpack = async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
};

/** The drawing of a large network: lines of channels and places of switches. */
class LargeNetwork {
  constructor(data) {
    Object.assign(this, data);
    const { source, lines, sizes, points, places } = data;
    this.places = Array.from(data.switches, (_, at) => [places[2 * at], places[2 * at + 1]]);
    this.xy = Int32Array.from(points);
    this.begin = new Int32Array(sizes.length + 1); // the first point of each line
    this.first = new Int32Array(lines.length + 1); // the first line of each channel
    this.owner = new Int32Array(sizes.length);
    let line = 0, point = 0;
    lines.forEach((count, channel) => {
      const [x, y] = this.places[source[channel]];
      this.first[channel] = line;
      for (const end = line + count; line < end; line += 1) {
        this.begin[line] = point;
        this.owner[line] = channel;
        let before = [x, y];
        for (const last = point + sizes[line]; point < last; point += 1) {
          before = [before[0] + this.xy[2 * point], before[1] + this.xy[2 * point + 1]];
          this.xy.set(before, 2 * point);
        }
      }
    });
    this.first[lines.length] = line;
    this.begin[line] = point;
  }

  /** The lines of a channel, as lists of coordinates. */
  linesOf(channel) {
    const found = [];
    for (let line = this.first[channel]; line < this.first[channel + 1]; line += 1) {
      found.push([...this.xy.subarray(2 * this.begin[line], 2 * this.begin[line + 1])]);
    }
    return found;
  }

  name(channel) {
    const { switches, source, target, direction, directions } = this;
    const text = `${switches[source[channel]]}>${switches[target[channel]]}`;
    return direction[channel] < 0 ? text : `${text} ${directions[direction[channel]]}`;
  }
}

/** The channels of a large picture; like a Map, but made on demand. */
class LargeChannels {
  constructor(network, { texts, looks, at }) {
    Object.assign(this, { network, texts, looks, at });
    const order = Uint32Array.from(at.keys());
    this.order = order.sort((a, b) => at[b] - at[a] || b - a); // the busiest first
  }

  has(number) {
    return number !== null && number in this.at;
  }

  get(number) {
    if (!this.has(number)) return undefined;
    const lines = this.network.linesOf(number);
    const d = lines.map((line) => `M${line.join(" ").replace(/(\S+ \S+) /g, "$1L")}`).join("");
    return { lines, d, name: this.network.name(number), value: this.texts[this.at[number]] };
  }

  /** The channel nearest to a place, if any is closer than `reach`; barbs do not count. */
  nearest(x, y, reach) {
    const { xy, begin, owner } = this.network;
    let best = null, least = reach;
    for (let line = 0; line < owner.length; line += 1) {
      for (let point = begin[line]; point < begin[line + 1] - 2; point += 1) {
        const ax = xy[2 * point], ay = xy[2 * point + 1], bx = xy[2 * point + 2], by = xy[2 * point + 3];
        if ((ax < x - least && bx < x - least) || (ax > x + least && bx > x + least)) continue;
        if ((ay < y - least && by < y - least) || (ay > y + least && by > y + least)) continue;
        const here = distance(x, y, ax, ay, bx, by);
        if (here < least) [best, least] = [owner[line], here];
      }
    }
    return best;
  }

  /** A path of all channels of each look, the least loaded first. */
  paths() {
    const { xy, begin, first } = this.network, found = new Map();
    for (let rank = this.order.length - 1; rank >= 0; rank -= 1) {
      const channel = this.order[rank], look = this.looks[this.at[channel]];
      if (!found.has(look)) found.set(look, new Path2D());
      const path = found.get(look);
      for (let line = first[channel]; line < first[channel + 1]; line += 1) {
        path.moveTo(xy[2 * begin[line]], xy[2 * begin[line] + 1]);
        for (let point = begin[line] + 1; point < begin[line + 1]; point += 1) {
          path.lineTo(xy[2 * point], xy[2 * point + 1]);
        }
      }
    }
    return found;
  }
}

/** The canvas below the SVG element of a large picture, and the section of the picture in both. */
class Canvas {
  static LEAST = 0.6; // pixels of the thinnest line
  static READABLE = 6; // pixels of the smallest text in a switch
  static DRAG = 4; // pixels that a pointer moves before it drags

  constructor(panel, network) {
    Object.assign(this, { panel, network, svg: panel.svg });
    this.canvas = panel.element.querySelector("canvas");
    this.box = this.svg.viewBox.baseVal;
    const { x: left, y: top, width: wide, height: high } = this.box;
    // texts at the border have the same size at any scale
    this.home = [left - 0.1 * wide, top - 0.1 * high, 1.2 * wide, 1.2 * high];
    // pictures of one network share texts, but each hides those that would overlap
    const copy = this.svg.querySelector("use");
    if (copy) {
      const backdrop = document.querySelector(copy.getAttribute("href")).cloneNode(true);
      backdrop.removeAttribute("id");
      copy.replaceWith(backdrop);
    }
    this.paths = panel.channels.paths();
    this.circles = new Path2D();
    for (const [x, y] of network.places) {
      this.circles.moveTo(x + 8, y);
      this.circles.arc(x, y, 8, 0, 2 * Math.PI);
    }
    this.addTools();
    this.follow();
    this.show(...this.home);
    new ResizeObserver(() => this.fit()).observe(this.svg);
    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(query).addEventListener("change", () => this.draw());
    }
  }

  addTools() {
    const tools = htmlElement("div", "", { className: "zoom" });
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", `Change the view of ${this.panel.title}`);
    for (const [text, act] of [
      ["Zoom in", () => this.zoom(0.6)], ["Zoom out", () => this.zoom(1 / 0.6)], ["Reset", () => this.show(...this.home)],
    ]) {
      const button = htmlElement("button", text, { type: "button" });
      button.addEventListener("click", act);
      tools.append(button);
    }
    tools.append(htmlElement("span", "Drag to move, Ctrl + wheel to zoom", { className: "soft" }));
    this.svg.closest(".pane").before(tools);
  }

  /** Let the wheel and the pointer change the section. */
  follow() {
    const { svg } = this;
    let from = null;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const [x, y] = this.panel.place(event);
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, x, y);
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => {
      this.isDragged = false;
      from = event.button === 0 ? [event.clientX, event.clientY] : null;
    });
    svg.addEventListener("pointermove", (event) => {
      if (!from || !event.buttons) return;
      const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
      if (!this.isDragged && Math.hypot(dx, dy) < Canvas.DRAG) return;
      if (!this.isDragged) svg.setPointerCapture(event.pointerId);
      this.isDragged = true;
      from = [event.clientX, event.clientY];
      const { x, y, width, height } = this.box, unit = width / svg.clientWidth;
      this.show(x - dx * unit, y - dy * unit, width, height);
    });
    // a drag is no click on a channel
    svg.addEventListener("click", (event) => {
      if (this.isDragged) event.stopImmediatePropagation();
      this.isDragged = false;
    }, { capture: true });
    svg.addEventListener("keydown", (event) => {
      const act = { "+": () => this.zoom(0.6), "-": () => this.zoom(1 / 0.6), 0: () => this.show(...this.home) }[event.key];
      if (act) act();
    });
  }

  zoom(factor, x = this.box.x + this.box.width / 2, y = this.box.y + this.box.height / 2) {
    const least = 160, most = 4 * this.home[2]; // units across
    const by = Math.min(Math.max(factor, least / this.box.width), most / this.box.width);
    this.show(x - (x - this.box.x) * by, y - (y - this.box.y) * by, this.box.width * by, this.box.height * by);
  }

  /** Show a section of the picture, of the same shape. */
  show(x, y, width, height) {
    Object.assign(this.box, { x, y, width, height });
    const isWhole = this.home.every((value, at) => Math.abs(value - [x, y, width, height][at]) < 1);
    this.svg.style.touchAction = isWhole ? "" : "none";
    this.panel.tip.hidden = true;
    this.draw();
  }

  /** Move the section to a channel outside of it. */
  reveal([ax, ay, bx, by]) {
    const { x, y, width, height } = this.box, [cx, cy] = [(ax + bx) / 2, (ay + by) / 2];
    const isInside = cx > x && cx < x + width && cy > y && cy < y + height;
    if (!isInside) this.show(cx - width / 2, cy - height / 2, width, height);
  }

  fit() {
    const own = this.svg.getBoundingClientRect(), pane = this.canvas.parentElement.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(own.width * ratio);
    this.canvas.height = Math.round(own.height * ratio);
    const place = { left: own.left - pane.left, top: own.top - pane.top, width: own.width, height: own.height };
    for (const [side, pixels] of Object.entries(place)) this.canvas.style[side] = `${pixels}px`;
    this.draw();
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.paint();
    });
  }

  /** Colour, width and opacity of each look, from the style sheet. */
  styles() {
    const group = svgElement("g", "channels", this.svg);
    const found = [...this.paths.keys()].map((look) => {
      const { stroke, strokeWidth, opacity } = getComputedStyle(svgElement("path", look, group));
      return [look, { colour: stroke, width: parseFloat(strokeWidth), opacity: Number(opacity) }];
    });
    group.remove();
    return new Map(found);
  }

  /** Hide coordinates of blocks that would overlap. */
  thinTicks(scale) {
    for (const [name, axis, room] of [["below", "x", 30], ["beside", "y", 16]]) {
      const ticks = [...this.svg.querySelectorAll(`text.${name}`)];
      const [first, second] = ticks.map((tick) => tick[axis].baseVal[0].value);
      const step = ticks.length > 1 ? Math.ceil(room / (Math.abs(second - first) * scale)) : 1;
      ticks.forEach((tick, number) => { tick.style.display = number % step ? "none" : ""; });
    }
  }

  paint() {
    const { svg, canvas, box, network } = this;
    if (!svg.clientWidth) return;
    const scale = svg.clientWidth / box.width; // screen pixels of a unit
    svg.style.setProperty("--unit", 1 / scale);
    this.panel.sizeEnds(1 / scale);
    this.thinTicks(scale);
    const context = canvas.getContext("2d"), ratio = canvas.width / svg.clientWidth;
    const page = getComputedStyle(svg), colour = (name) => page.getPropertyValue(name);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, -ratio * scale * box.x, -ratio * scale * box.y);
    Object.assign(context, { lineCap: "butt", lineJoin: "round" });
    const styles = this.styles();
    for (const [look, path] of this.paths) {
      const style = styles.get(look);
      context.globalAlpha = style.opacity;
      context.strokeStyle = style.colour;
      context.lineWidth = Math.max(style.width, Canvas.LEAST / scale);
      context.stroke(path);
    }
    context.globalAlpha = 1;
    context.fillStyle = colour("--card");
    context.strokeStyle = colour("--soft");
    context.lineWidth = 1.2;
    context.fill(this.circles);
    context.stroke(this.circles);
    if (network.marks.length && 8.5 * scale > Canvas.READABLE) {
      Object.assign(context, { font: `8.5px ${page.fontFamily}`, textAlign: "center", textBaseline: "middle" });
      context.fillStyle = colour("--ink");
      network.marks.forEach((mark, at) => context.fillText(mark, ...network.places[at]));
    }
  }
}
