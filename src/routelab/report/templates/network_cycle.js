/** Controls that play the cycle of a picture, channel by channel. */
class CyclePlayer {
  static PAUSE = 1200; // milliseconds of a step

  constructor(panel, list) {
    Object.assign(this, { panel, steps: [...list.querySelectorAll("li")], at: -1, timer: null });
    this.text = htmlElement("p", "", { className: "step" });
    this.text.setAttribute("role", "status");
    const controls = htmlElement("div", "", { className: "player" });
    const button = (text, act) => {
      const made = htmlElement("button", text, { type: "button" });
      made.addEventListener("click", act);
      controls.append(made);
      return made;
    };
    button("Previous channel", () => this.go(this.at - 1));
    this.play = button("Play the cycle", () => (this.timer ? this.stop() : this.start()));
    button("Next channel", () => this.go(this.at + 1));
    controls.append(this.text);
    list.before(controls);
  }

  /** Show a step, as the reader asked for it. */
  go(step) {
    this.stop();
    this.show(step);
  }

  show(step) {
    const { panel, steps } = this, number = (index) => Number(steps[index].dataset.channel);
    this.at = (step + steps.length) % steps.length;
    panel.clear();
    panel.draw(steps.map((_, index) => number(index)));
    panel.mark.setAttribute("d", panel.channels.get(number(this.at)).d);
    steps.forEach((item, index) => {
      if (index === this.at) item.setAttribute("aria-current", "step");
      else item.removeAttribute("aria-current");
    });
    this.text.textContent = `${this.at + 1} of ${steps.length}: ${steps[this.at].textContent}`;
  }

  /** Play one round. */
  start() {
    let left = this.steps.length;
    const next = () => {
      this.show(this.at + 1);
      left -= 1;
      if (!left) this.stop();
    };
    this.timer = setInterval(next, CyclePlayer.PAUSE);
    this.play.textContent = "Pause";
    next();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play the cycle";
  }
}
