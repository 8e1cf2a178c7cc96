// Pictures of networks: the channel that a reader points at, taps or reaches by the arrow keys is
// marked in all pictures of its network, with its value and the pairs that use it. Two switches that a
// reader clicks or chooses from lists show their route in each picture.
{
{% include "network_routes.js" %}

{% include "network_panel.js" %}

{% include "network_cycle.js" %}

{% include "network_large.js" %}

  /** The lists from which readers choose a pair of switches of a network. */
  class PairForm {
    constructor(form, graph, isHost, choose) {
      const list = (text, options) => {
        const select = htmlElement("select", "");
        select.append(new Option("–", ""), ...options);
        const label = htmlElement("label", `${text} `);
        label.append(select);
        form.append(label, " ");
        return select;
      };
      const name = form.dataset.name;
      this.from = list(name ? `Route in ${name} from` : "Route from",
        graph.endpoints.map((at) => new Option(graph.names[at], at)));
      const targets = isHost ? [...graph.terminals.keys()] : graph.endpoints.map((at) => graph.terminalsAt[at][0]);
      this.to = list("to", targets.map((terminal) => new Option(graph.destination(terminal, isHost), terminal)));
      const value = (select) => (select.value === "" ? null : Number(select.value));
      form.addEventListener("change", () => choose(value(this.from), value(this.to)));
      form.addEventListener("submit", (event) => event.preventDefault());
      const clear = htmlElement("button", "Clear", { type: "button" });
      clear.addEventListener("click", () => choose(null, null));
      form.append(clear);
      form.hidden = false;
    }

    set(from, terminal) {
      this.from.value = from ?? "";
      this.to.value = terminal ?? "";
    }
  }

  /** Make the pictures of a figure respond; large ones come with their unpacked data. */
  const begin = (figure, networks = new Map(), values = []) => {
    const label = figure.dataset.label;
    const status = figure.querySelector(":scope > [role=status]");
    const graphs = new Map(), places = new Map(), forms = new Map();
    for (const data of figure.querySelectorAll("script.graph")) {
      graphs.set(data.dataset.network, new Graph(JSON.parse(data.textContent)));
    }
    for (const [number, network] of networks) {
      graphs.set(number, new Graph(network));
      places.set(number, network.places);
    }
    for (const backdrop of networks.size ? [] : figure.querySelectorAll(".backdrop")) {
      const circles = [...backdrop.querySelectorAll("circle")];
      places.set(backdrop.closest(".panel").dataset.network,
        circles.map((circle) => [circle.cx.baseVal.value, circle.cy.baseVal.value]));
    }
    const panels = [...figure.querySelectorAll(".panel")].map((element, at) => {
      const { network } = element.dataset;
      const large = networks.size ? { network: networks.get(network), values: values[at] } : null;
      return new Panel(element, graphs.get(network), places.get(network), large);
    });
    const linkedTo = (network) => panels.filter((panel) => panel.network === network);
    let chosen = null, pinned = false, first = null;

    const choose = (panel, number, pin = false) => {
      const isNew = number !== chosen || !pinned;
      chosen = number;
      pinned = pin && number !== null;
      const linked = number === null ? [] : linkedTo(panel.network);
      for (const other of panels) {
        other.show(linked.includes(other) ? number : null, label);
        other.showTip(other === panel ? number : null, label);
      }
      if (!pinned || !isNew) {
        if (!pinned) status.textContent = "";
        return;
      }
      choosePair(panel.network, null, null);
      status.textContent = `${panel.channels.get(number).name}, ${label}: ` + linked.map((other) => {
        const users = other.showUsers(number, (from, terminal) => choosePair(other.network, from, terminal));
        return `${other.title} ${other.channels.get(number).value}${users}`;
      }).join("; ");
    };

    /** Show the routes of a pair; a pair without a target waits for a second switch. */
    const choosePair = (network, from, terminal) => {
      for (const [other, form] of forms) {
        if (other === network) form.set(from, terminal);
        else form.set(null, null);
      }
      first = from !== null && terminal === null ? { network, from } : null;
      const linked = linkedTo(network);
      for (const panel of panels) panel.clear();
      if (from === null && terminal === null) return;
      choose(linked[0], null);
      const graph = graphs.get(network), { names } = graph, routed = linked.filter((panel) => panel.routes);
      if (from === null) return;
      if (terminal !== null) {
        const told = routed.map((panel) => panel.showPair(from, terminal, label));
        status.textContent = `Route from ${names[from]} to ${names[graph.terminals[terminal]]}: ${told.join("; ")}`;
        return;
      }
      status.textContent = `Route from ${names[from]}: choose a second switch`;
      for (const panel of routed) {
        panel.markEnds([from], []);
        panel.reading.textContent = status.textContent;
      }
    };

    for (const form of figure.querySelectorAll("form.pair")) {
      const { network } = form.dataset;
      const isHost = linkedTo(network).some((panel) => panel.routes?.perTerminal);
      forms.set(network, new PairForm(form, graphs.get(network), isHost,
        (from, terminal) => choosePair(network, from, terminal)));
    }

    for (const panel of panels) {
      const { svg, order } = panel;
      const cycle = panel.element.querySelector(".cycle ol");
      if (cycle) new CyclePlayer(panel, cycle);
      if (!order.length) continue;
      svg.addEventListener("pointermove", (event) => {
        if (event.pointerType === "touch" || pinned) return;
        svg.classList.toggle("on-switch", panel.switchAt(event) !== null);
        choose(panel, panel.at(event));
      });
      svg.addEventListener("pointerleave", (event) => {
        if (event.pointerType !== "touch" && !pinned) choose(panel, null);
      });
      svg.addEventListener("click", (event) => {
        const at = panel.switchAt(event);
        if (at !== null) {
          if (first?.network !== panel.network) choosePair(panel.network, at, null);
          else choosePair(panel.network, first.from, panel.graph.terminalsAt[at][0]);
          return;
        }
        const number = panel.at(event), again = pinned && number === chosen;
        if (again) choosePair(panel.network, null, null);
        choose(panel, again ? null : number, true);
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
        if (event.key === "Escape") {
          choosePair(panel.network, null, null);
          choose(panel, null);
        } else if (next !== undefined) {
          panel.reveal(order[next]);
          choose(panel, order[next], true);
        } else return;
        event.preventDefault();
      });
    }
    figure.addEventListener("focusout", (event) => {
      if (figure.contains(event.relatedTarget)) return;
      if (pinned) for (const panel of panels) panel.clear();
      choose(panels[0], null);
    });
  };

  for (const figure of document.querySelectorAll(".network:not(.large)")) begin(figure);

  /** Unpack the data of large pictures, and replace the file by them. */
  const beginLarge = async (figure) => {
    const packed = (selector) => [...figure.querySelectorAll(selector)];
    const networks = await Promise.all(packed("script.packed-network").map(async (script) =>
      [script.dataset.network, new LargeNetwork(await unpack(script.textContent))]));
    const values = await Promise.all(packed("script.packed-values").map((script) => unpack(script.textContent)));
    figure.hidden = false;
    begin(figure, new Map(networks), values);
    figure.closest("figure").classList.add("live");
  };

  const nearby = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      nearby.unobserve(target);
      beginLarge(target.querySelector(".network.large"));
    }
  }, { rootMargin: "600px" });
  // older browsers keep the file
  if (window.DecompressionStream) {
    for (const figure of document.querySelectorAll(".network.large")) nearby.observe(figure.closest("figure"));
  }
}
