// Interactive figures: each replaces its picture once it is drawn. Readers hide series, zoom, move,
// make axes logarithmic, and see the row of the figure's data under the pointer.
{
  const PANEL_WIDTH = 300, MAX_WIDTH = 720, BESIDE_AXIS = 84; // pixels
  const LETTER = 6.8; // pixels of a letter of a label
  const MAX_SIDE = 520, MAX_FIELD = 90, FIELD_HEIGHT = 26, FIELD = 5; // pixels of a matrix, and of fields
  const SVG = "http://www.w3.org/2000/svg";

  const make = (name, className, parent, text = "") => {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    parent.append(made);
    return made;
  };

  const expanded = (columns) => {
    const lists = Object.entries(columns).map(([name, values]) =>
      [name, Array.isArray(values) ? values : values.at.map((at) => values.texts[at])]);
    return lists[0][1].map((_, row) => Object.fromEntries(lists.map(([name, list]) => [name, list[row]])));
  };

  const numberText = (value, decimals) => {
    if (value === null || value === undefined || value === "") return "–";
    if (typeof value !== "number") return String(value);
    if (decimals !== null) return value.toFixed(decimals);
    return String(Number(value.toPrecision(6)));
  };

  const wrapped = (text, width) => {
    const most = Math.max(12, Math.floor(width / LETTER)), found = [""];
    for (const word of text.split(" ")) {
      const last = found.at(-1);
      if (last && last.length + word.length >= most) found.push(word);
      else found[found.length - 1] = last ? `${last} ${word}` : word;
    }
    return found;
  };

  const swatch = ({ color, dash, width, shape, opacity }, marks) => {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "swatch");
    svg.setAttribute("viewBox", "0 0 30 12");
    svg.setAttribute("aria-hidden", "true");
    const add = (name, attributes) => {
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      svg.append(made);
    };
    if (marks.has("bar")) add("rect", { x: 3, y: 1, width: 24, height: 10, fill: color, "fill-opacity": opacity });
    if (marks.has("line")) {
      add("path", { d: "M0 6H30", stroke: color, "stroke-width": width, "stroke-dasharray": dash.join(" ") });
    }
    if (marks.has("point") && !marks.has("bar")) {
      const shapes = {
        circle: "M11 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0", square: "M11.5 2.5h7v7h-7z", diamond: "M15 1l5 5l-5 5l-5-5z",
        "triangle-up": "M15 1.5l4.6 8.5h-9.2z", "triangle-down": "M15 10.5l4.6-8.5h-9.2z",
      };
      add("path", { d: shapes[shape], fill: color });
    }
    return svg;
  };

  /** A legend of the colours of fields: round numbers below even steps. */
  const colourScale = (parent, { title, ticks }, steps) => {
    const scale = make("div", "scale", parent);
    make("span", "", scale, title);
    const bar = make("div", "bar", scale);
    bar.setAttribute("aria-hidden", "true");
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${steps} 1`);
    svg.setAttribute("preserveAspectRatio", "none");
    for (let step = 0; step < steps; step += 1) {
      const field = document.createElementNS(SVG, "rect");
      for (const [key, value] of Object.entries({ x: step, width: 1.02, height: 1 })) field.setAttribute(key, value);
      field.style.fill = `var(--q${step})`;
      svg.append(field);
    }
    bar.append(svg);
    for (const [place, text] of ticks) make("span", "", bar, text).style.left = `${place}%`;
  };

  class Chart {
    constructor(box) {
      this.box = box;
      this.figure = box.closest("figure");
      const content = JSON.parse(box.querySelector("script").textContent);
      Object.assign(this, content);
      this.data = expanded(content.rows);
      this.hidden = new Set();
      this.margin = BESIDE_AXIS;
      this.log = { x: this.axes.x.log, y: this.axes.y.log };
      this.panels = new Set(this.data.map((row) => row["@panel"])).size;
      this.series = this.series.filter(({ name }) => this.data.some((row) => row["@series"] === name));
      this.addControls();
      this.pane = make("div", "plot", box);
      this.tip = make("div", "tip", box);
      this.tip.hidden = true;
    }

    addControls() {
      const { layer } = this.spec.spec;
      if (this.fields) colourScale(this.box, this.scale, layer[0].encoding.color.scale.range.length);
      else this.addLegend(new Set(layer.map(({ mark }) => mark.type)));
      const isZoomable = ["x", "y"].some((name) => layer[0].encoding[name].type === "quantitative");
      if (isZoomable) this.addTools();
    }

    addLegend(marks) {
      const legend = make("div", "keys", this.box);
      legend.setAttribute("role", "group");
      legend.setAttribute("aria-label", `Show or hide: ${this.hue}`);
      make("span", "hue", legend, this.hue);
      for (const one of this.series) {
        const button = this.addButton(legend, one.name, () => this.toggle(one.name, button), true);
        button.prepend(swatch(one, marks));
      }
    }

    addTools() {
      const tools = make("div", "tools", this.box);
      tools.setAttribute("role", "group");
      tools.setAttribute("aria-label", "Change the view");
      this.addButton(tools, "Zoom in", () => this.zoom(0.7));
      this.addButton(tools, "Zoom out", () => this.zoom(1 / 0.7));
      this.addButton(tools, "Reset", () => this.draw());
      for (const name of ["x", "y"]) {
        if (this.axes[name].fixed) continue;
        const button = this.addButton(tools, `Log ${name}`, () => {
          this.log[name] = !this.log[name];
          button.setAttribute("aria-pressed", this.log[name]);
          this.draw();
        }, this.log[name]);
        button.title = `Logarithmic axis: ${this.axes[name].title}`;
      }
      make("span", "hint", tools, "Drag to move, Ctrl + wheel to zoom");
    }

    addButton(parent, text, act, pressed = null) {
      const button = make("button", "", parent);
      button.type = "button";
      make("span", "", button, text);
      if (pressed !== null) button.setAttribute("aria-pressed", pressed);
      button.addEventListener("click", act);
      return button;
    }

    toggle(name, button) {
      const shows = this.hidden.delete(name);
      if (!shows) this.hidden.add(name);
      button.setAttribute("aria-pressed", shows);
      this.view.signal("hidden", [...this.hidden]).runAsync();
    }

    /** Zoom all numeric axes around their middles; a factor below 1 shows less. */
    zoom(factor) {
      for (const name of ["x", "y"]) {
        const encoding = this.layers[0].encoding[name];
        if (encoding.type !== "quantitative") continue;
        const [to, from] = this.log[name] ? [Math.log, Math.exp] : [Number, Number];
        const [low, high] = this.view.scale(name).domain().map((value) => to(value));
        const middle = (low + high) / 2, reach = (high - low) / 2 * factor;
        const domain = [from(middle - reach), from(middle + reach)];
        this.view.signal(`zoom_${encoding.field.replace(/\W/g, "_")}`, domain);
      }
      return this.view.runAsync();
    }

    /** The rows and layers for logarithmic axes: what such an axis cannot show is left out. */
    onLogAxes() {
      let layers = structuredClone(this.spec.spec.layer);
      let rows = this.data;
      for (const name of ["x", "y"]) {
        if (!this.log[name]) continue;
        const own = layers.flatMap(({ encoding }) => [encoding[name], encoding[`${name}2`]]).filter(Boolean);
        const fields = [...new Set(own.map(({ field }) => field?.replace(/\\(.)/g, "$1")))]
          .filter((field) => field in rows[0]);
        // what is computed from the rows, such as room above them, may be zero
        layers = layers.filter(({ encoding }) =>
          !encoding[name]?.field || fields.includes(encoding[name].field.replace(/\\(.)/g, "$1")));
        const positive = rows.flatMap((row) => fields.map((field) => row[field])).filter((value) => value > 0);
        const least = positive.reduce((a, b) => Math.min(a, b), Infinity);
        const shown = (field, value) =>
          (value > 0 ? value : field === this.axes[name].column || value === null ? null : least);
        rows = rows.map((row) => ({
          ...row, ...Object.fromEntries(fields.map((field) => [`@${name} ${field}`, shown(field, row[field])])),
        }));
        for (const channel of own) {
          if (channel.field) channel.field = `@${name} ${channel.field}`;
          if (channel.scale) channel.scale = { type: "log", nice: false, padding: 10 };
        }
      }
      return [rows, layers.filter(({ encoding }) => !["x", "y"].some((name) =>
        this.log[name] && encoding[name]?.datum <= 0))];
    }

    /** The panels in a row, and the pixels of a panel's width and height, without its axes. */
    size() {
      const available = this.pane.clientWidth, { across = 0, down = 0, letters = 0 } = this.fields ?? {};
      const least = Math.max(160, across * (letters * LETTER + 8));
      const columns = Math.max(1, Math.min(3, this.panels, Math.floor(available / Math.max(PANEL_WIDTH, least))));
      const room = Math.floor(available / columns) - this.margin;
      if (!this.fields) {
        const width = Math.max(least, Math.min(MAX_WIDTH, room));
        return [columns, width, this.panels === 1 ? Math.min(340, Math.max(220, width * 0.7)) : 210];
      }
      if (!across) {
        const side = Math.max(least, Math.min(MAX_SIDE, room));
        return [columns, side, side];
      }
      const width = Math.max(least, Math.min(room, MAX_WIDTH, across * MAX_FIELD));
      return [columns, width, Math.max(60, down * Math.max(FIELD, Math.min(FIELD_HEIGHT, MAX_WIDTH / 2 / down)))];
    }

    specification() {
      const [columns, width, height] = this.size();
      const [rows, layers] = this.onLogAxes();
      this.layers = layers;
      this.across = columns;
      const crowded = this.axes.x.letters * LETTER > 0.9 * width;
      for (const { encoding } of layers) {
        for (const [name, size] of [["x", width], ["y", height]]) {
          if (encoding[name]) encoding[name].title = wrapped(this.axes[name].title, size);
        }
        if (encoding.x && this.axes.x.letters) {
          encoding.x.axis = { labelAngle: crowded ? -35 : 0, labelLimit: 130, labelOverlap: false };
        }
      }
      const font = getComputedStyle(document.body).fontFamily;
      return {
        ...this.spec,
        columns,
        data: { values: rows },
        params: [{ name: "hidden", value: [...this.hidden] }],
        spec: { ...this.spec.spec, width, height, layer: layers },
        background: null,
        config: {
          font, axis: { labelFontSize: 12, titleFontSize: 12.5, titleFontWeight: "normal", tickCount: 6 },
          header: { labelFontSize: 13.5, labelFontWeight: "bold" }, view: { stroke: null },
        },
      };
    }

    async draw() {
      await this.embed();
      // labels of axes are as wide as their numbers are long
      const excess = this.pane.scrollWidth - this.pane.clientWidth;
      if (excess > 0) {
        this.margin += Math.ceil(excess / this.across) + 2;
        await this.embed();
      }
    }

    async embed() {
      this.tip.hidden = true;
      const { view } = await vegaEmbed(this.pane, this.specification(), {
        actions: false, renderer: "svg", logLevel: 1, tooltip: (...given) => this.hint(...given),
      });
      this.view?.finalize();
      this.view = view;
      const svg = this.pane.querySelector("svg");
      svg.setAttribute("aria-label", this.figure.querySelector("img").alt);
    }

    hint(_, event, item, row) {
      this.tip.hidden = !row;
      if (!row) return;
      this.tip.replaceChildren();
      for (const { name, title, decimals } of this.columns) {
        const line = make("span", "", this.tip, `${title}: `);
        make("b", "", line, numberText(row[name], decimals));
      }
      const { width, height } = this.tip.getBoundingClientRect();
      const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - width - 6);
      const above = event.clientY - height - 12;
      this.tip.style.left = `${Math.max(6, left)}px`;
      this.tip.style.top = `${above > 0 ? above : event.clientY + 18}px`;
    }
  }

  const start = (chart) => {
    const begin = () => chart.draw().then(() => chart.figure.classList.add("live"));
    let width = 0, task = Promise.resolve();
    new ResizeObserver(() => {
      if (Math.abs(chart.box.clientWidth - width) < 8) return;
      width = chart.box.clientWidth;
      task = task.then(begin);
    }).observe(chart.box);
  };

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      const box = target.querySelector(".chart");
      box.hidden = false;
      start(new Chart(box));
    }
  }, { rootMargin: "600px" });

  // the library is loaded after this script; without it the pictures stay
  addEventListener("DOMContentLoaded", () => {
    if (!window.vegaEmbed) return;
    for (const box of document.querySelectorAll(".chart")) seen.observe(box.closest("figure"));
  });
}
