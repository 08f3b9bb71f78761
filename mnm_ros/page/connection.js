// SPDX-License-Identifier: Apache-2.0

// Tells since when the server of the page has been silent, and greys the page out meanwhile. A
// network that is gone says nothing, and a socket notices after a quarter of a minute.

const LATE = 5000;       // ms without a beat, of which there is one in two seconds
const STARTING = 1500;   // ms, for the socket to be there

export default {
  template: `<div class="connection"><div class="offline-since" role="alert" v-if="since">
    {{ lost.replace("SINCE", since) }}</div></div>`,
  props: ["lost"],
  data: () => ({ since: "" }),
  mounted() {
    this.beat();
    this.timer = setInterval(() => this.look(), 500);
  },
  unmounted() {
    clearInterval(this.timer);
  },
  methods: {
    beat() {
      this.heard = Date.now();
      this.look();
    },
    look() {
      const silent = Date.now() - this.heard;
      const lost = silent > LATE || (silent > STARTING && !window.socket?.connected);
      this.since = lost ? new Date(this.heard).toTimeString().slice(0, 8) : "";
      document.body.classList.toggle("offline", lost);
    },
  },
};
