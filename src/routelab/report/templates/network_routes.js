/** The switches, channels and terminals of a network. */
class Graph {
  constructor({ switches, source, target, terminals, hosts, width }) {
    Object.assign(this, { names: switches, source, target, terminals, hosts, width });
    this.outgoing = switches.map(() => []);
    source.forEach((at, channel) => this.outgoing[at].push(channel));
    this.terminalsAt = switches.map(() => []);
    terminals.forEach((at, terminal) => this.terminalsAt[at].push(terminal));
    this.endpoints = [...switches.keys()].filter((at) => this.terminalsAt[at].length);
    this.endpoint = new Map(this.endpoints.map((at, number) => [at, number]));
  }

  /** The name of a destination: its switch, and its host if destinations are terminals. */
  destination(terminal, isHost) {
    const at = this.names[this.terminals[terminal]];
    return isHost ? `${this.hosts[terminal] || `terminal ${terminal}`} at ${at}` : at;
  }
}

/** The routes of one picture; the format is that of route_text in route_data.py. */
class Routes {
  static INDEXED = 100000; // pairs; an index of more would need too much memory

  constructor(graph, { perTerminal, routes }) {
    Object.assign(this, { graph, perTerminal, pairs: routes.split(",") });
    this.across = perTerminal ? graph.terminals.length : graph.endpoints.length;
  }

  /** The paths from a switch to a terminal, as lists of channels with their shares. */
  paths(from, terminal) {
    const { graph } = this;
    const to = this.perTerminal ? terminal : graph.endpoint.get(graph.terminals[terminal]);
    return this.decode(from, this.pairs[graph.endpoint.get(from) * this.across + to]);
  }

  decode(from, text) {
    if (!text) return [];
    const { source, target, outgoing, width } = this.graph;
    return text.split("|").map((path, _, all) => {
      const [digits, share] = path.split(":");
      const channels = [];
      for (let at = from, k = 0; k < digits.length; k += width) {
        let slot = 0;
        for (const digit of digits.slice(k, k + width)) slot = slot * 62 + Routes.digit(digit);
        channels.push(outgoing[at][slot]);
        at = target[channels.at(-1)];
      }
      return { channels, share: share === undefined ? 1 / all.length : Number(share) };
    });
  }

  static digit(character) {
    const value = parseInt(character, 36); // upper case comes after lower case
    return character >= "A" && character <= "Z" ? value + 26 : value;
  }

  /** The pairs whose routes use a channel, with their part of its load. */
  users(channel) {
    if (this.pairs.length > Routes.INDEXED) {
      return this.usersAmong((number) => number === channel).get(channel) ?? [];
    }
    this.index ??= this.usersAmong(() => true);
    return this.index.get(channel) ?? [];
  }

  /** The users of all channels that `counts` accepts, by channel. */
  usersAmong(counts) {
    const { graph } = this, index = new Map();
    this.pairs.forEach((text, pair) => {
      const from = graph.endpoints[Math.floor(pair / this.across)], column = pair % this.across;
      const here = this.perTerminal ? [column] : graph.terminalsAt[graph.endpoints[column]];
      const weight = graph.terminalsAt[from].length * here.length;
      const mine = new Map();
      for (const { channels, share } of this.decode(from, text)) {
        for (const channel of channels) {
          if (counts(channel)) mine.set(channel, (mine.get(channel) ?? 0) + share * weight);
        }
      }
      for (const [channel, load] of mine) {
        if (!index.has(channel)) index.set(channel, []);
        index.get(channel).push({ from, terminal: here[0], load });
      }
    });
    return index;
  }
}
