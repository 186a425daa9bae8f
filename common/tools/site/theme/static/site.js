"use strict";
// Light and dark, the menu of narrow pages, where the reader is, and the values of plots. All but the first of them
// also work without a script, or are not needed then.

document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement;

  // ---- light and dark ----
  const button = document.querySelector("button.theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} theme`); };
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

  // ---- the menu of a narrow page ----
  const menu = document.getElementById("menu"), pages = document.getElementById("pages");
  const open = (yes) => { menu.setAttribute("aria-expanded", String(yes)); pages.classList.toggle("open", yes); };
  if (menu) {
    menu.addEventListener("click", () => open(menu.getAttribute("aria-expanded") !== "true"));
    document.addEventListener("keydown", (key) => {
      if (key.key !== "Escape") return;
      if (pages.classList.contains("open")) { open(false); menu.focus(); }
      hide();
    });
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

  // ---- what is scrolled inside itself is reached by Tab ----
  for (const box of document.querySelectorAll(".wide, .highlight pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
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
  for (const mark of document.querySelectorAll(".value")) {
    mark.addEventListener("pointerenter", () => show(mark));
    mark.addEventListener("pointerleave", hide);
    mark.addEventListener("focus", () => show(mark));
    mark.addEventListener("blur", hide);
  }
});
