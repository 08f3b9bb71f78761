// SPDX-License-Identifier: Apache-2.0

// Chooses a moment of the past, or what is at its right end. The next one is asked for once the last
// has come, so that a server that takes its time is not asked for all that a thumb slides over.

export default {
  template: `<div class="time" v-show="count">
    <button @click="to(at - 1)" :disabled="at <= 0" :aria-label="words.earlier">&lsaquo;</button>
    <input type="range" min="0" :max="count" :value.prop="at" :aria-label="words.shown"
      :aria-valuetext="told || end" @input="to(+$event.target.value)" @pointerdown="held = true"
      @pointerup="held = false" @pointercancel="held = false">
    <button @click="to(at + 1)" :disabled="at >= count" :aria-label="words.later">&rsaquo;</button>
    <div class="ends"><span>{{ begin }}</span><span>{{ end }}</span></div></div>`,
  props: ["end", "words"],
  data: () => ({ count: 0, at: 0, begin: "", told: "", held: false }),
  methods: {
    show(count, at, begin, told) {
      const more = this.asked && this.at !== this.wanted;
      if (this.at >= this.count) this.at = count;
      Object.assign(this, { count, begin, told, asked: false });
      if (more) this.ask();
      else if (!this.held) this.at = at;
    },
    to(at) {
      this.at = Math.min(Math.max(at, 0), this.count);
      if (!this.asked) this.ask();
    },
    ask() {
      this.asked = true;
      this.wanted = this.at;
      this.$emit("slide", this.at >= this.count ? null : this.at);
    },
  },
};
