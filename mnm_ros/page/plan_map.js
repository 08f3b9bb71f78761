// SPDX-License-Identifier: Apache-2.0

// The picture of a plan, drawn on with one tool at a time. The server makes every shape, in m with y
// downwards; this says which points were drawn, in m with y upwards, and the server what follows.

const NS = "http://www.w3.org/2000/svg";
const LAYERS = ["pixels", "cells", "things", "wrong", "sketch"];

// How many points a tool takes: dragged from the first to the second, or clicked one by one.
const TOOLS = {
  move: { drag: true }, home: { drag: true }, room: { points: 1 }, door: { points: 2 },
  keep_out: { points: Infinity },
};

export default {
  template: `<div class="map-frame plan-map placed">
    <svg ref="svg" role="img" aria-label="floor plan" tabindex="0"></svg>
    <div class="zoom">
      <button @click="zoom(0.7)" aria-label="nearer">+</button>
      <button @click="zoom(1.43)" aria-label="farther">&minus;</button>
      <button @click="fit" aria-label="show everything">&#x2922;</button>
    </div></div>`,
  mounted() {
    this.tool = "move";
    this.points = [];
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
    },
    down(at) {
      const first = this.points[0];
      const near = this.view[2] / 60;
      if (first && this.points.length > 2 && Math.hypot(at[0] - first[0], at[1] - first[1]) < near)
        return this.done(this.points);
      this.points.push(at);
      if (this.points.length === TOOLS[this.tool].points) this.done(this.points);
    },
    done(points) {
      this.points = [];
      this.groups.sketch.innerHTML = "";
      this.groups.cells.removeAttribute("transform");
      if (points) this.$emit("drawn", { tool: this.tool, points });
    },
    sketch(at) {
      if (!this.points.length) return;
      const all = [...this.points, at];
      if (this.tool === "move")
        this.groups.cells.setAttribute("transform", `translate(${at[0] - all[0][0]} ${all[0][1] - at[1]})`);
      else
        this.groups.sketch.innerHTML = `<polyline points="${all.map(([x, y]) => `${x},${-y}`).join(" ")}"/>`;
    },
    point(event) {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.$refs.svg.getScreenCTM().inverse());
      return [Number(at.x.toFixed(3)), Number((-at.y).toFixed(3))];
    },
    fit() {
      this.view = [...this.box];
      this.$refs.svg.style.aspectRatio = this.box[2] / this.box[3];
      this.$refs.svg.setAttribute("viewBox", this.view.join(" "));
    },
    zoom(factor, event) {
      const [x, y, width, height] = this.view;
      const [atX, up] = event ? this.point(event) : [x + width / 2, -y - height / 2];
      this.view = [atX - (atX - x) * factor, -up - (-up - y) * factor, width * factor, height * factor];
      this.$refs.svg.setAttribute("viewBox", this.view.join(" "));
    },
  },
};
