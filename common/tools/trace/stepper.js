"use strict";
// Steps through the drawings of a page: figures of class "steps" (stepper.py). A figure is opened by its button or by
// an address that names a step, #NAME-step=7; in a page with a list of drawings (stepper.html) one is always open.

(() => {
  const list = document.getElementById("drawings"), fewest = list ? 0 : 2;
  const figures = [...document.querySelectorAll("figure.steps")].filter((figure) => figure.querySelectorAll("g.step").length >= fewest);

  // What is said around a drawing on a page in Chinese; the drawing's own words are English.
  const IN_CHINESE = {
    "Step through it": "逐步查看", "◀ Back": "◀ 上一步", "One step back": "上一步", "Next ▶": "下一步 ▶", "One step further": "下一步",
    "Close": "关闭", "Close the steps": "关闭逐步查看", "Step": "步骤", "Steps": "逐步查看", "Code": "代码", "Values of this step": "这一步的值",
    "step {} of {}": "第 {} 步，共 {} 步", "line {} of {}": "{1} 第 {0} 行",
  };
  const isChinese = document.documentElement.lang.startsWith("zh");

  /// A text in the language of the page; {} are the values in their order, {0} the first of them.
  function words(english, ...values) {
    let next = 0;
    return (isChinese && IN_CHINESE[english] || english).replace(/\{(\d?)\}/g, (_, place) => values[place || next++]);
  }

  /// An element with a class and a text. Texts only ever become text: nothing of a drawing is parsed as HTML.
  function make(tag, style, text) {
    const element = document.createElement(tag);
    if (style) element.className = style;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function button(text, label, action) {
    const made = make("button", "", text);
    made.type = "button";
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
    return made;
  }

  /// Browsers refuse hundreds of addresses in some seconds: one is kept when the reader stays at a step.
  let waiting;
  function keepInAddress(address) {
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, "", address), 150);
  }

  /// What a figure does.
  function stepper(figure) {
    const drawing = figure.querySelector(".drawing"), svg = drawing.querySelector("svg"), code = figure.querySelector(".code");
    const steps = [...svg.querySelectorAll("g.step")];
    let at = 0;

    const start = button(words("Step through it"), "", () => { open(at); focus(); });
    const back = button(words("◀ Back"), words("One step back"), () => go(at - 1));
    const next = button(words("Next ▶"), words("One step further"), () => go(at + 1));
    const close = button(words("Close"), words("Close the steps"), () => { shut(); start.focus(); });
    const slider = make("input"), where = make("span", "where"), said = make("p", "said"), whole = make("ul", "whole");
    slider.type = "range";
    slider.min = 1;
    slider.max = steps.length;
    slider.setAttribute("aria-label", words("Step"));
    slider.addEventListener("input", () => go(Number(slider.value) - 1));
    said.setAttribute("aria-live", "polite");
    whole.setAttribute("aria-label", words("Values of this step"));
    whole.tabIndex = 0;
    const bar = make("div", "bar"), parts = make("div", "parts");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", words("Steps"));
    code.setAttribute("aria-label", words("Code"));
    bar.append(back, next, slider, where, ...list ? [] : [close]);
    parts.append(code, drawing);
    figure.append(start, bar, said, whole, parts);
    parts.after(start);  // below the drawing
    const heads = columnHeads(drawing, svg);

    for (const [k, step] of steps.entries()) step.addEventListener("click", () => { if (isOpen()) go(k); });
    for (const line of code.querySelectorAll("button.line")) line.addEventListener("click", () => goToLine(line.dataset.at));
    figure.addEventListener("keydown", (key) => {
      if (!isOpen() || key.altKey || key.ctrlKey || key.metaKey) return;
      if (key.key === "Escape" && !list) close.click();
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 10, PageDown: at + 10, Home: 0, End: steps.length - 1 }[key.key];
      if (to === undefined) return;
      key.preventDefault();
      go(to);
    });

    const isOpen = () => figure.classList.contains("open");

    function show(yes) {
      figure.classList.toggle("open", yes);
      for (const part of [bar, said, code]) part.hidden = !yes;
      start.hidden = yes;
      whole.hidden = true;
    }

    function shut() {
      show(false);
      heads.hide();
      keepInAddress(location.pathname + location.search);
      for (const part of [...steps, ...code.querySelectorAll(".line")]) { part.classList.remove("now"); part.removeAttribute("aria-current"); }
    }

    function open(step, isAddressed) {
      show(true);
      go(step, isAddressed);
    }

    /// The focus is in the figure, and all of it is in view.
    function focus() {
      slider.focus({ preventScroll: true });
      const { top, bottom } = figure.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight) figure.scrollIntoView();
    }

    /// The next step of a line of code, from the first one again after the last one.
    function goToLine(line) {
      for (let k = 1; k <= steps.length; ++k) {
        const to = (at + k) % steps.length;
        if (steps[to].dataset.at === line) return go(to);
      }
    }

    function go(to, isAddressed) {
      at = Math.max(0, Math.min(steps.length - 1, to));
      const step = steps[at];
      slider.value = at + 1;
      back.setAttribute("aria-disabled", at === 0);  // one that is disabled would lose the focus
      next.setAttribute("aria-disabled", at >= steps.length - 1);
      where.textContent = steps.length ? words("step {} of {}", at + 1, steps.length) : "no step";
      slider.disabled = !steps.length;
      if (!step) { said.textContent = "The launch was stopped before anything was recorded."; return; }
      slider.setAttribute("aria-valuetext", where.textContent);
      for (const other of steps) other.classList.toggle("now", other === step);
      highlight(step);
      const sentence = make("strong", "", step.querySelector("title").textContent);
      sentence.lang = "en";
      const [file, line] = step.dataset.at.split(/:(?=\d+$)/);
      said.replaceChildren(sentence, words("line {} of {}", line, file.split("/").pop()));
      const values = step.dataset.values ? step.dataset.values.split("\n") : [];
      whole.hidden = !values.length;
      whole.replaceChildren(...values.map((text) => make("li", "", text)));
      for (const row of code.querySelectorAll(".line")) {
        if (row.dataset.at === step.dataset.at) { row.setAttribute("aria-current", "step"); scroll(code, row, row.offsetHeight); }
        else row.removeAttribute("aria-current");
      }
      scroll(drawing, step, heads.height());
      if (!isAddressed) keepInAddress(`#${figure.dataset.address}=${at + 1}`);
    }

    function highlight(step) {
      if (step.querySelector(".back")) return;
      const box = step.getBBox(), back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      const width = svg.viewBox.baseVal.width;
      for (const [name, value] of Object.entries({ x: 3, y: box.y - 2, width: width - 6, height: box.height + 4, rx: 4, class: "back" })) {
        back.setAttribute(name, value);
      }
      step.prepend(back);
    }

    /// Scrolls a box, and nothing else, until a part of it is in view, `above` below its upper edge.
    function scroll(box, part, above) {
      const frame = box.getBoundingClientRect(), place = part.getBoundingClientRect();
      const top = place.top - frame.top, room = box.clientHeight - above;
      if (top >= above && top + place.height <= box.clientHeight) return;
      box.scrollTop += top - above - Math.max(6, (room - place.height) / 2);
    }

    show(false);
    return {
      open, isOpen, figure, focus,
      /// The step that an address names, from 0; undefined if it names another figure's.
      stepOf(hash) {
        const found = hash.match(/^#(.*)=(\d+)$/);
        return found && decodeURIComponent(found[1]) === figure.dataset.address ? Number(found[2]) - 1 : undefined;
      },
    };
  }

  /// The names of a drawing's columns stay at the upper edge of its box.
  function columnHeads(drawing, svg) {
    const holder = make("div", "heads"), heads = svg.querySelector("g.columns");
    if (!heads) return { height: () => 0, hide() {} };
    const { y, height } = heads.getBBox(), width = svg.viewBox.baseVal.width, copy = svg.cloneNode(false);
    copy.setAttribute("viewBox", `0 ${y - 2} ${width} ${height + 4}`);
    copy.removeAttribute("role");
    copy.removeAttribute("aria-label");
    copy.setAttribute("aria-hidden", "true");
    copy.append(heads.cloneNode(true));
    holder.append(copy);
    drawing.prepend(holder);
    const isPast = () => drawing.scrollTop > y * svg.clientWidth / width;
    drawing.addEventListener("scroll", () => holder.classList.toggle("shown", isPast()), { passive: true });
    return { height: () => copy.clientHeight, hide: () => holder.classList.remove("shown") };
  }

  const steppers = figures.map(stepper);

  function choose(name) {
    for (const { figure } of steppers) figure.hidden = figure.id !== name;
    list.value = name;
  }

  function openAddressed() {
    for (const one of steppers) {
      const step = one.stepOf(location.hash);
      if (step === undefined) continue;
      if (list) choose(one.figure.id);
      one.open(step, true);
      one.focus();
      return true;
    }
    return false;
  }

  if (list) {
    const opened = (name) => { choose(name); const one = steppers.find(({ figure }) => figure.id === name); if (!one.isOpen()) one.open(0, true); return one; };
    list.addEventListener("change", () => opened(list.value));
    if (!openAddressed()) opened(list.value).focus();
  } else {
    openAddressed();
  }
  addEventListener("hashchange", openAddressed);
})();
