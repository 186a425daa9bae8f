"use strict";
// Light and dark, the menu of narrow pages, where the reader is, what is copied, what is done, what an answer would give away, tables
// of narrow pages, and the values of plots. Without a script the text is whole.

document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;

  // ---- light and dark ----
  const button = document.querySelector("button.theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const name = () => {
    const other = isDark() ? "light" : "dark";
    button.textContent = WORDS[other];
    button.setAttribute("aria-label", WORDS[`${other}_theme`]);
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    name();
  });
  system.addEventListener("change", name);
  name();

  // ---- "/" is in the search box ----
  const search = document.querySelector("header input[type='search']");
  document.addEventListener("keydown", (key) => {
    if (key.key !== "/" || !search || key.ctrlKey || key.metaKey || key.altKey || key.target.matches("input, textarea, select")) return;
    key.preventDefault();
    search.focus();
    search.select();
  });

  // ---- the list of pages: the menu of a narrow page ----
  const menu = document.getElementById("menu"), pages = document.getElementById("pages");
  if (menu) {
    const toCurrent = () => {
      const current = pages.querySelector("[aria-current]");
      if (current) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;
    };
    const isOpen = () => pages.classList.contains("open");
    const open = (yes) => {
      menu.setAttribute("aria-expanded", String(yes));
      pages.classList.toggle("open", yes);
      if (yes) toCurrent();
    };
    menu.addEventListener("click", () => open(!isOpen()));
    document.addEventListener("click", ({ target }) => {
      if (isOpen() && !pages.contains(target) && !menu.contains(target)) open(false);
    });
    document.addEventListener("keydown", (key) => {
      if (key.key !== "Escape") return;
      if (isOpen()) { open(false); menu.focus(); }
      hide();
    });
    toCurrent();
  }

  // ---- "On this page" shows the section that is read ----
  const toc = document.getElementById("toc");
  if (toc) {
    const wide = matchMedia("(min-width: 1200px)");
    toc.open = wide.matches;
    wide.addEventListener("change", () => { toc.open = wide.matches; });
    const entries = new Map([...toc.querySelectorAll("a[href^='#']")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
    const sections = [...document.querySelectorAll("main section[id]")].filter((section) => entries.has(section.id));
    const spy = () => {
      const read = sections.filter((section) => section.getBoundingClientRect().top < 120).pop();
      for (const a of entries.values()) a.removeAttribute("aria-current");
      if (read) entries.get(read.id).setAttribute("aria-current", "true");
    };
    let waiting = false;
    addEventListener("scroll", () => {
      if (!waiting) requestAnimationFrame(() => { waiting = false; spy(); });
      waiting = true;
    }, { passive: true });
    spy();
  }

  // ---- code is copied: commands without their comments, sources without the numbers of their lines ----
  const textOf = (code) => {
    const text = code.cloneNode(true);
    for (const number of text.querySelectorAll(".line > a")) number.remove();
    return text.textContent;
  };
  for (const block of navigator.clipboard ? document.querySelectorAll("div[class*='highlight-']:not(.highlight-text, .highlight-diff)") : []) {
    const copy = document.createElement("button"), code = block.querySelector("pre");
    copy.className = "copy";
    copy.textContent = WORDS.copy;
    copy.addEventListener("click", async () => {
      const lines = textOf(code).trimEnd().split("\n");
      const commands = lines.map((line) => line.replace(/(^|\s+)#\s.*$/, "")).filter((line, k) => line || !lines[k]);
      await navigator.clipboard.writeText((block.classList.contains("highlight-sh") ? commands : lines).join("\n"));
      copy.textContent = WORDS.copied;
      setTimeout(() => { copy.textContent = WORDS.copy; }, 1500);
    });
    (block.parentElement.querySelector(":scope > figcaption") || block.querySelector(".highlight")).append(copy);
  }

  // ---- exercises that the reader has marked as done: kept in this browser ----
  const done = new Set(JSON.parse(localStorage.getItem("done") || "[]"));
  const showDone = () => {
    for (const card of document.querySelectorAll(".card")) {
      const isDone = done.has(card.dataset.exercise), section = card.parentElement;
      card.classList.toggle("is-done", isDone);
      document.querySelector(`#toc a[href="#${CSS.escape(section.id)}"]`)?.classList.toggle("is-done", isDone);
    }
    for (const link of document.querySelectorAll("#pages a[data-exercises]")) {
      const all = link.dataset.exercises.split(" "), count = all.filter((exercise) => done.has(exercise)).length;
      link.querySelector("small")?.remove();
      if (count > 0) link.insertAdjacentHTML("beforeend", ` <small>${count === all.length ? "✓" : `${count}/${all.length}`}</small>`);
    }
  };
  for (const card of document.querySelectorAll(".card")) {
    const label = document.createElement("label"), box = document.createElement("input");
    label.className = "done";
    label.title = WORDS.done_here;
    box.type = "checkbox";
    box.checked = done.has(card.dataset.exercise);
    box.addEventListener("change", () => {
      done[box.checked ? "add" : "delete"](card.dataset.exercise);
      localStorage.setItem("done", JSON.stringify([...done]));
      showDone();
    });
    label.append(box, ` ${WORDS.done}`);
    card.querySelector("h3").after(label);
  }
  showDone();

  // ---- what was measured is veiled until the answer before it has been opened ----
  for (const answer of document.querySelectorAll("main details:not([open])")) {
    const boxes = [], button = document.createElement("button");
    if (answer.querySelector("summary").textContent !== WORDS.answer) continue;
    for (let box = answer.nextElementSibling; box?.matches(".cost"); box = box.nextElementSibling) boxes.push(box);
    if (!boxes.length) continue;
    const show = () => {
      button.remove();
      for (const box of boxes) box.classList.remove("veiled");
    };
    button.textContent = WORDS.show_measured;
    button.addEventListener("click", () => {
      show();
      boxes[0].focus();
    });
    boxes[0].tabIndex = -1;
    boxes[0].prepend(button);
    for (const box of boxes) box.classList.add("veiled");
    answer.addEventListener("toggle", show, { once: true });
  }

  // ---- a table that does not fit on a phone has a block for each row ----
  const frames = [...document.querySelectorAll(".wide:has(> table)")], phone = matchMedia("(max-width: 599px)");
  const layTables = () => {
    for (const frame of frames) frame.classList.remove("by-row");
    const tooWide = phone.matches ? frames.filter((frame) => frame.scrollWidth > frame.clientWidth + 1) : [];
    for (const frame of tooWide) frame.classList.add("by-row");
  };
  addEventListener("resize", layTables);
  layTables();

  // ---- what is scrolled inside itself is reached by Tab, and fades where it goes on ----
  const scrolled = [...document.querySelectorAll(".wide, .highlight pre, .steps .code")];
  const fade = (box) => {
    const left = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more-right", left > 1);
    box.classList.toggle("more-left", box.scrollLeft > 1);
    if (left > 1) box.tabIndex = 0;
  };
  const seen = new ResizeObserver((changes) => changes.forEach(({ target }) => fade(target)));
  for (const box of scrolled) {
    box.addEventListener("scroll", () => fade(box), { passive: true });
    seen.observe(box);
  }

  // ---- plots: a mark says its value ----
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");  // the mark has the same text as its label
  document.body.append(tip);
  function hide() { tip.hidden = true; }
  const show = (mark) => {
    tip.textContent = mark.getAttribute("aria-label");
    tip.hidden = false;
    const box = mark.getBoundingClientRect(), page = root.clientWidth;
    tip.style.left = `${scrollX + Math.max(4, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, page - tip.offsetWidth - 4))}px`;
    tip.style.top = `${scrollY + box.top - tip.offsetHeight - 4}px`;
  };
  for (const mark of document.querySelectorAll(".plot .value")) {
    mark.addEventListener("pointerenter", () => show(mark));
    mark.addEventListener("pointerleave", hide);
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("blur", hide);
  }
});
