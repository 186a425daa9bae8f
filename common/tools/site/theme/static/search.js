"use strict";
// The search page: makes the index of SEARCHED (search-LANGUAGE.js) with lunr, and shows what it finds while the reader types.

document.addEventListener("DOMContentLoaded", () => {
  const MOST = 40, AROUND = 110;  // hits; characters of an excerpt before and after what was found
  const box = document.querySelector("header input[type='search']"), hits = document.getElementById("hits"), count = document.getElementById("count");

  // ---- words ----
  // A name is found by its parts, too: __shfl_down_sync by shfl. Chinese has no spaces: two characters that stand side by
  // side are a word.
  const CHINESE = /[\u3400-\u9fff]/;
  const wordsOf = (text) => {
    const found = [];
    for (const [run] of text.toLowerCase().matchAll(/[\u3400-\u9fff]+|(?:(?![\u3400-\u9fff])[\p{L}\p{N}_])+/gu)) {
      if (CHINESE.test(run)) for (let k = 0; k < Math.max(run.length - 1, 1); k++) found.push(run.slice(k, k + 2));
      else {
        found.push(run);
        const parts = run.split("_").filter(Boolean);
        if (parts.length > 1 || parts[0] !== run) found.push(...parts);
      }
    }
    return found;
  };
  const stemOf = (word) => lunr.stemmer(new lunr.Token(word, {})).toString();

  // ---- the index ----
  const sections = SEARCHED.flatMap((page) => page.sections.map(
    ([uri, heading, subject, terms, moreTerms, text]) => ({ ...page, uri, heading, subject, terms, moreTerms, text })));
  const index = lunr(function () {
    this.tokenizer = (text) => wordsOf(text || "").map((word) => new lunr.Token(word, {}));
    this.pipeline.reset();
    this.pipeline.add(lunr.stopWordFilter, lunr.stemmer);
    this.searchPipeline.reset();
    this.ref("ref");
    this.b(0.4);  // a short heading is not much better than a long one
    this.field("subject", { boost: 8 });
    this.field("terms", { boost: 12 });
    this.field("moreTerms", { boost: 3 });
    this.field("page");
    this.field("text");
    const own = document.documentElement.lang;
    sections.forEach((section, ref) => {
      const isExercise = section.heading.includes("★");
      this.add({ ...section, ref }, { boost: (section.lesson ? 2 : 1) * (section.language === own ? 2 : 1) / (isExercise ? 2 : 1) });
    });
  });

  // Every word has to be in a section, or any, if no section has all; the last one may be unfinished. Sections whose
  // heading, or terms, have all words come first.
  const found = (asked) => {
    const words = wordsOf(asked).filter((word) => lunr.stopWordFilter(word)).map(stemOf), { REQUIRED, OPTIONAL } = lunr.Query.presence;
    if (words.length === 0) return [];
    const all = resultsOf(words, REQUIRED), results = all.length ? all : resultsOf(words, OPTIONAL);
    const isHeading = (fields) => fields && (fields.subject || fields.terms || fields.moreTerms);
    const inHeading = ({ matchData: { metadata } }) => words.every((word) => isHeading(metadata[word]));
    return results.map((result) => ({ ...result, first: inHeading(result) })).sort((a, b) => b.first - a.first || b.score - a.score)
      .map((result) => sections[result.ref]);
  };
  const resultsOf = (words, presence) => {
    const isLast = (k) => k === words.length - 1;
    return index.query((query) => {
      words.forEach((word, k) => {
        const begun = isLast(k) && (!CHINESE.test(word) || word.length === 1);
        query.term(word, { usePipeline: false, presence: begun ? lunr.Query.presence.OPTIONAL : presence, boost: 10 });
        if (begun) query.term(word, { usePipeline: false, presence, wildcard: lunr.Query.wildcard.TRAILING });
      });
    });
  };

  // ---- the page ----
  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // A part of a section's text, with what was asked for marked.
  const excerpt = (text, asked) => {
    const words = asked.trim().split(/\s+/).map((word) => escaped(/s$/i.test(word) && word.length > 3 ? word.slice(0, -1) : word));
    const pattern = new RegExp([escaped(asked.trim()), ...words].join("|"), "gi");
    const at = Math.max(0, text.search(pattern)), begin = at < AROUND ? 0 : text.indexOf(" ", at - AROUND) + 1, end = at + 2 * AROUND;
    const shown = text.slice(begin, end), parts = [];
    let last = 0;
    for (const match of shown.matchAll(pattern)) {
      parts.push(shown.slice(last, match.index), element("mark", {}, match[0]));
      last = match.index + match[0].length;
    }
    return [begin > 0 ? "… " : "", ...parts, shown.slice(last), end < text.length ? " …" : ""];
  };

  const show = () => {
    const asked = box.value, all = asked.trim() ? found(asked) : [];
    count.textContent = asked.trim() ? WORDS.found.replace("{}", all.length) : WORDS.ask;
    hits.replaceChildren(...all.slice(0, MOST).map((section) => {
      const whole = section.heading === section.page;
      const link = element("a", { href: section.uri }, section.heading);
      const hit = element("li", section.language === document.documentElement.lang ? {} : { lang: section.language }, link);
      if (!whole) hit.append(element("small", {}, section.page));
      hit.append(element("p", {}, ...excerpt(section.text, asked)));
      return hit;
    }));
  };
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", () => {
    history.replaceState(null, "", `?q=${encodeURIComponent(box.value)}`);
    show();
  });
  box.form.addEventListener("submit", (event) => event.preventDefault());
  show();
  box.focus();
});
