// SPDX-License-Identifier: Apache-2.0

// The map of states as SVG. The server computes every shape, in lengths between neighbours; this
// only writes them into the document, layer by layer, and lets people move about in it.

const NS = "http://www.w3.org/2000/svg";
const escape = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const arrow = (kind) => ([path, weight, title]) =>
  `<path class="${kind}" d="${path}" stroke-width="${(0.012 + 0.03 * weight).toFixed(3)}"` +
  ` opacity="${(0.15 + 0.7 * weight).toFixed(2)}"><title>${escape(title)}</title></path>`;

const state = (kinds) => ([id, x, y, r, kind, , title]) => {
  const label = escape(`${title}, ${kinds[kind]}`);
  return `<g class="state ${kind}" data-id="${escape(id)}" role="button" tabindex="-1" aria-label="${label}"><circle cx="${x}" cy="${y}" r="${kind === "unmet" ? r / 3 : r}"/>` +
    `<title>${label}</title></g>`;
};

// How much farther a state is in the direction of an arrow key, if one goes to it along that arrow.
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const farther = ([dx, dy], x, y) => {
  const along = dx * x + dy * y, aside = Math.abs(dx * y) + Math.abs(dy * x);
  return along > 0.01 ? along + 2 * aside : Infinity;
};

const HIGH = 1.05, WIDE = 0.58; // a line and a character, of the size of the letters

// How many characters fit into each of so many lines on a circle; none if the lines do not.
const capacities = (r, size, lines) => {
  const room = [];
  for (let i = 0; i < lines; i++) {
    const edge = Math.abs(i - (lines - 1) / 2) * HIGH * size + 0.45 * size;
    if (edge > 0.95 * r) return null;
    room.push(Math.floor((2 * Math.sqrt(r * r - edge * edge)) / (WIDE * size)));
  }
  return room;
};

// A text in as few lines as it fits into, if need be with a long word in two parts; null if it does
// not fit, or what does of it, with dots.
const wrapped = (text, r, size, cut = false) => {
  let best = null;
  for (let lines = 1; lines <= 3; lines++) {
    const room = capacities(r, size, lines);
    if (!room) break;
    const found = [""], words = text.split(/(?<=[-_])|\s+/);
    while (words.length) {
      const at = found.length - 1, line = found[at], word = words[0], left = found.length < lines;
      const begun = line && !/[-_]$/.test(line) ? `${line} ` : line;
      const free = room[at] - begun.length;
      if (word.length <= free) found[at] = begun + words.shift();
      else if (line && left && word.length <= room[at + 1]) found.push("");
      else if (left && free > 3 && word.length > 8) {
        const part = Math.min(free - 1, word.length - 3);
        found[at] = `${begun}${word.slice(0, part)}-`;
        words[0] = word.slice(part);
        found.push("");
      } else if (line && left) found.push("");
      else {
        found[at] = (begun + word).slice(0, Math.max(1, room[at] - 1)).trimEnd() + "\u2026";
        break;
      }
    }
    if (!words.length) return found;
    if (!best || found.join("").length > best.join("").length) best = found;
  }
  return cut ? best || [text] : null;
};

// All in one size, the largest in which each name fits; written over everything else.
const labels = (all) => {
  const shown = all.filter(([, , , , kind]) => kind !== "unmet").map(([, x, y, r, kind, text, title]) => (
    { x, y, r, kind, text: text.endsWith("\u2026") && title.startsWith(text.slice(0, -1)) ? title : text }));
  const usual = shown.map(({ r }) => r).sort((one, other) => one - other)[Math.floor(shown.length / 2)];
  const sizes = [0.75, 0.66, 0.58, 0.5, 0.44, 0.39, 0.35].map((share) => share * usual);
  // One that is cut in any size does not make all others small.
  const fitting = shown.filter(({ text, r }) => wrapped(text, r, sizes.at(-1)));
  const size = sizes.find((each) => fitting.every(({ text, r }) => wrapped(text, r, each))) || sizes.at(-1);
  return shown.map(({ x, y, r, kind, text }) => {
    const lines = wrapped(text, r, size, true), top = y - ((lines.length - 1) / 2) * HIGH * size + 0.35 * size;
    return `<text class="label ${kind}" font-size="${size.toFixed(3)}">` + lines.map((line, i) =>
      `<tspan x="${x}" y="${(top + i * HIGH * size).toFixed(3)}">${escape(line)}</tspan>`).join("") + "</text>";
  }).join("");
};

const house = ([x, y, r]) => {
  // At the upper left, as arrows on a grid leave to the sides, and a RESET is at the upper right.
  const s = 0.42 * r;
  return `<path class="house" d="M${x - 0.85 * r - s} ${y - 0.5 * r}h${2 * s}v${-0.7 * s}l${-s} ${-0.8 * s}l${-s} ${0.8 * s}z"/>`;
};

const reset = ([x, y, r]) => {
  const s = 0.42 * r;
  return `<g transform="translate(${x + 0.75 * r} ${y - 0.75 * r}) scale(${s})"><title>RESET</title>` +
    `<circle class="badge" r="1"/><path class="again" d="M0.5 -0.3A0.58 0.58 0 1 0 0.55 0.2M0.6 -0.75L0.5 -0.28L0.05 -0.36"/></g>`;
};

const LAYERS = {
  ground: (g) => (g.image ? `<image href="${escape(g.image)}" x="${g.x}" y="${g.y}" width="${g.width}"` +
    ` height="${g.height}" preserveAspectRatio="none"/>` : "") + g.doors.map(([x, y, side, open]) =>
    `<rect class="door ${open ? "open" : "closed"}" x="${x}" y="${y}" width="${side}" height="${side}"/>`).join(""),
  walls: (path) => `<path class="wall" d="${path}"/>`,
  links: (all) => all.map(arrow("link")).join(""),
  states: (all, kinds) => all.map(state(kinds)).join(""),
  policy: ({ arrows, resets }) => arrows.map(arrow("way")).join("") + resets.map(reset).join(""),
  home: house,
  current: (all) => all.map(([x, y, r]) =>
    `<circle class="ring" cx="${x}" cy="${y}" r="${1.17 * r}"/>`).join(""),
  robots: (all) => all.map(([x, y, r, side, name]) =>
    `<circle class="one" cx="${x}" cy="${y}" r="${r}"><title>${escape(name)}</title></circle>`).join("") +
    all.map(([x, y, r, side, name]) => `<text class="name" x="${x + 1.4 * side * r}"` +
      ` y="${y + (side ? 0.7 : 2.8) * r}" font-size="${Math.max(1.7 * r, 0.1)}"` +
      ` text-anchor="${["end", "middle", "start"][side + 1]}">${escape(name)}</text>`).join(""),
  robot: ([x, y, turn]) => `<path class="robot" transform="translate(${x} ${y}) rotate(${turn})"` +
    ` d="M0.2 0L-0.13 0.13L-0.06 0L-0.13 -0.13z"/>`,
  labels,
};

export default {
  template: `<div class="map-frame">
    <svg ref="svg" role="group" :aria-label="words.map"></svg>
    <div class="zoom">
      <button @click="zoom(0.7)" :aria-label="words.nearer">+</button>
      <button @click="zoom(1.43)" :aria-label="words.farther">&minus;</button>
      <button @click="fit" :aria-label="words.everything">&#x2922;</button>
    </div></div>`,
  props: ["words", "kinds"],
  mounted() {
    // A server that was gone is found again within a second or two, not five.
    setTimeout(() => window.socket?.io.reconnectionDelayMax(1000), 0);
    this.box = this.view = [-2, -1.5, 4, 3];
    this.moved = false;
    this.pointers = new Map();
    const svg = this.$refs.svg;
    this.groups = {};
    for (const name of Object.keys(LAYERS)) {
      this.groups[name] = svg.appendChild(document.createElementNS(NS, "g"));
      this.groups[name].setAttribute("class", `layer-${name}`);
    }
    this.look();
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0015), event);
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, event);
      this.travelled = 0;
    });
    svg.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"])
      svg.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("click", (event) => {
      if (this.travelled > 6) return;
      const found = event.target.closest("[data-id]");
      this.$emit("pick", found ? found.dataset.id : null);
    });
  },
  methods: {
    draw(layers) {
      if ("states" in layers) layers.labels = layers.states;
      const focused = this.groups.states.contains(document.activeElement) && document.activeElement.dataset.id;
      for (const [name, layer] of Object.entries(layers)) {
        if (name in LAYERS) this.groups[name].innerHTML = layer === null ? "" : LAYERS[name](layer, this.kinds);
      }
      if ("placed" in layers) this.$el.classList.toggle("placed", layers.placed);
      if ("box" in layers || "placed" in layers) {
        this.box = layers.box || this.box;
        if (!this.moved) this.fit();
      }
      if ("policy" in layers) this.$el.classList.toggle("with-policy", layers.policy !== null);
      if ("chosen" in layers) this.chosen = layers.chosen;
      if ("chosen" in layers || "states" in layers)
        for (const group of this.groups.states.children)
          group.classList.toggle("chosen", group.dataset.id === this.chosen);
      if ("states" in layers) this.stop(focused);
    },
    // Tab comes to one state alone, the one that was in focus last; it keeps the focus if it had it.
    stop(focused) {
      const states = [...this.groups.states.children];
      const there = states.find((each) => each.dataset.id === focused);
      const next = there || states.find((each) => each.dataset.id === this.chosen) || states[0];
      for (const each of states) each.setAttribute("tabindex", each === next ? "0" : "-1");
      if (there) there.focus();
    },
    key(event) {
      const from = event.target.closest("[data-id]");
      if (!from) return;
      if (event.key === "Enter" || event.key === " ") this.$emit("pick", from.dataset.id);
      else if (event.key in ARROWS) {
        const place = (state) => [+state.firstChild.getAttribute("cx"), +state.firstChild.getAttribute("cy")];
        const [x, y] = place(from);
        const way = (state) => farther(ARROWS[event.key], place(state)[0] - x, place(state)[1] - y);
        const nearest = [...this.groups.states.children].sort((one, other) => way(one) - way(other))[0];
        if (way(nearest) === Infinity) return;
        nearest.focus();
        this.stop(nearest.dataset.id);
      } else return;
      event.preventDefault();
    },
    look() {
      this.$refs.svg.setAttribute("viewBox", this.view.join(" "));
      this.$refs.svg.style.touchAction = this.moved ? "none" : "pan-x pan-y";
    },
    fit() {
      this.view = [...this.box];
      this.moved = false;
      // A map in its own geometry needs no more room than it has; others grow, and keep theirs.
      this.$refs.svg.style.aspectRatio = this.$el.classList.contains("placed") ? this.box[2] / this.box[3] : "";
      this.look();
    },
    point(event) {
      return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.$refs.svg.getScreenCTM().inverse());
    },
    zoom(factor, event) {
      const [x, y, width, height] = this.view;
      const size = Math.min(Math.max(width * factor, 1), 4 * this.box[2] + 4);
      factor = size / width;
      const at = event ? this.point(event) : { x: x + width / 2, y: y + height / 2 };
      this.view = [at.x - (at.x - x) * factor, at.y - (at.y - y) * factor, size, height * factor];
      this.moved = true;
      this.look();
    },
    drag(event) {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const from = this.point(before), to = this.point(event);
      const others = [...this.pointers.values()].filter((other) => other.pointerId !== event.pointerId);
      this.travelled += Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY);
      this.pointers.set(event.pointerId, event);
      if (others.length) {
        const spread = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
        this.zoom(Math.max(spread(before), 1) / Math.max(spread(event), 1), others[0]);
      } else if (event.pointerType !== "touch" || this.moved) {
        if (this.travelled <= 6) return;
        this.view[0] -= to.x - from.x;
        this.view[1] -= to.y - from.y;
        this.moved = true;
        this.look();
      }
    },
  },
};
