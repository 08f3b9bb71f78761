// SPDX-License-Identifier: Apache-2.0

// The picture of a plan, drawn on with one tool at a time. The server makes every shape, in m with y
// downwards; this says which points were drawn, in m with y upwards, which place or edge was near to
// the first and the last of them, and the server what follows.

const NS = "http://www.w3.org/2000/svg";
const LAYERS = ["pixels", "cells", "places", "things", "chosen", "wrong", "sketch"];

// How many points a tool takes: dragged from the first to the second, or clicked one by one; and
// what has to be near to the first one.
const TOOLS = {
  view: { drag: true },
  move: { drag: true }, home: { drag: true }, room: { points: 1 }, door: { points: 2 },
  keep_out: { points: Infinity },
  place: { drag: true, near: "place" }, add: { points: 1 }, join: { drag: true, near: "place" },
  erase: { points: 1, near: "edge" },
};
const REACH = 14;    // pixels of the screen, within which a place, an edge or a corner is near
const STILL = 4;     // the same, of a click that is no drag

export default {
  props: ["words"],
  template: `<div class="map-frame plan-map placed">
    <svg ref="svg" role="img" :aria-label="words.map" tabindex="0"></svg>
    <div class="zoom">
      <button @click="zoom(0.7)" :aria-label="words.nearer">+</button>
      <button @click="zoom(1.43)" :aria-label="words.farther">&minus;</button>
      <button @click="fit" :aria-label="words.everything">&#x2922;</button>
    </div></div>`,
  mounted() {
    this.tool = "view";
    this.points = [];
    this.held = [];
    this.near = null;
    this.box = this.view = [0, 0, 1, 1];
    this.groups = {};
    const svg = this.$refs.svg;
    for (const name of LAYERS) {
      this.groups[name] = svg.appendChild(document.createElementNS(NS, "g"));
      this.groups[name].setAttribute("class", `layer-${name}`);
    }
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.0015), event);
    }, { passive: false });
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (TOOLS[this.tool].drag) svg.setPointerCapture(event.pointerId);
      this.down(this.point(event));
    });
    svg.addEventListener("pointermove", (event) => this.sketch(this.point(event)));
    svg.addEventListener("pointerup", (event) => {
      if (TOOLS[this.tool].drag && this.points.length) this.done([...this.points, this.point(event)]);
    });
    svg.addEventListener("pointercancel", () => this.done(null));
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.done(null);
      if (event.key === "Enter" && this.points.length > 2) this.done(this.points);
    });
  },
  methods: {
    draw(layers) {
      for (const name of LAYERS) if (name in layers) this.groups[name].innerHTML = layers[name];
      if ("box" in layers && String(layers.box) !== String(this.box)) {
        this.box = layers.box;
        this.fit();
      }
    },
    use(tool) {
      this.done(null);
      this.tool = tool;
      this.look();
    },
    down(at) {
      const first = this.points[0];
      const near = Math.max(this.view[2] / 60, REACH * this.pixel());
      if (first && this.points.length > 2 && Math.hypot(at[0] - first[0], at[1] - first[1]) < near)
        return this.done(this.points);
      const wanted = TOOLS[this.tool].near;
      this.near = wanted ? this.nearest(at, wanted === "edge") : null;
      if (wanted && this.near === null) return;
      if (this.tool === "place") this.hold(this.near);
      this.points.push(at);
      if (this.points.length === TOOLS[this.tool].points) this.done(this.points);
      else this.sketch(at);    // a thumb makes no moves between two corners
    },
    done(points) {
      if (!points) this.drag(0, 0);
      this.held = [];
      this.points = [];
      this.groups.sketch.innerHTML = "";
      this.groups.cells.removeAttribute("transform");
      if (!points || this.tool === "view") return;
      const [first, last] = [points[0], points.at(-1)];
      const still = Math.hypot(last[0] - first[0], last[1] - first[1]) < STILL * this.pixel();
      const tool = this.tool === "place" && still ? "choose" : this.tool;
      const end = this.tool === "join" ? this.nearest(last, false) : null;
      if (this.tool !== "join" || end !== null) this.$emit("drawn", { tool, points, near: [this.near, end] });
    },
    // The place, or an edge as a list of two places, that is near to a point; null if none is.
    nearest(at, edges) {
      let [found, least] = [null, REACH * this.pixel()];
      const take = (x, y, what) => {
        const apart = Math.hypot(at[0] - x, at[1] + y);
        if (apart < least) [found, least] = [what, apart];
      };
      for (const each of this.$refs.svg.querySelectorAll("[data-place]")) {
        const { x, y, width, height } = each.getBBox();
        take(x + width / 2, y + height / 2, Number(each.dataset.place));
      }
      if (found === null && edges)
        for (const each of this.groups.places.querySelectorAll("[data-start]")) {
          const [x, y, toX, toY] = ["x1", "y1", "x2", "y2"].map((name) => Number(each.getAttribute(name)));
          const along = ((at[0] - x) * (toX - x) + (-at[1] - y) * (toY - y)) / ((toX - x) ** 2 + (toY - y) ** 2);
          const part = Math.min(1, Math.max(0, along || 0));
          take(x + part * (toX - x), y + part * (toY - y), [each.dataset.start, each.dataset.end].map(Number));
        }
      return found;
    },
    // Take hold of a place, and of the ends of its edges.
    hold(place) {
      const all = (name) => [...this.$refs.svg.querySelectorAll(`[data-${name}="${place}"]`)];
      const ends = (name, ...keys) => all(name).map((line) => [line, keys, keys.map((key) => Number(line.getAttribute(key)))]);
      this.held = [...all("place").map((mark) => [mark, null]), ...ends("start", "x1", "y1"), ...ends("end", "x2", "y2")];
    },
    drag(right, down) {
      for (const [each, keys, from] of this.held)
        if (keys) keys.forEach((key, axis) => each.setAttribute(key, from[axis] + [right, down][axis]));
        else each.setAttribute("transform", `translate(${right} ${down})`);
    },
    sketch(at) {
      if (!this.points.length) return;
      const all = [...this.points, at];
      if (this.tool === "view") this.pan(at[0] - all[0][0], all[0][1] - at[1]);
      else if (this.tool === "place") this.drag(at[0] - all[0][0], all[0][1] - at[1]);
      else if (this.tool === "move")
        this.groups.cells.setAttribute("transform", `translate(${at[0] - all[0][0]} ${all[0][1] - at[1]})`);
      else
        this.groups.sketch.innerHTML = `<polyline points="${all.map(([x, y]) => `${x},${-y}`).join(" ")}"/>` +
          this.points.map(([x, y]) => `<circle cx="${x}" cy="${-y}" r="${REACH * this.pixel() / 2}"/>`).join("");
    },
    // All of the picture is seen already, unless it was zoomed; a thumb scrolls the page then.
    pan(right, down) {
      if (!this.zoomed()) return;
      this.view[0] -= right;
      this.view[1] -= down;
      this.look();
    },
    zoomed() {
      return this.view[2] !== this.box[2];
    },
    look() {
      const style = this.$refs.svg.style;
      this.$refs.svg.setAttribute("viewBox", this.view.join(" "));
      style.cursor = this.tool === "view" ? "grab" : "";
      style.touchAction = this.tool === "view" && !this.zoomed() ? "pan-x pan-y" : "";
    },
    // How many m a pixel of the screen is.
    pixel() {
      return 1 / this.$refs.svg.getScreenCTM().a;
    },
    point(event) {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.$refs.svg.getScreenCTM().inverse());
      return [Number(at.x.toFixed(3)), Number((-at.y).toFixed(3))];
    },
    fit() {
      this.view = [...this.box];
      this.$refs.svg.style.aspectRatio = this.box[2] / this.box[3];
      this.look();
    },
    zoom(factor, event) {
      const [x, y, width, height] = this.view;
      const [atX, up] = event ? this.point(event) : [x + width / 2, -y - height / 2];
      this.view = [atX - (atX - x) * factor, -up - (-up - y) * factor, width * factor, height * factor];
      this.look();
    },
  },
};
