"use strict";
// The search page: makes the index of SEARCHED (search-LANGUAGE.js) with lunr, and shows what it finds while the reader types.

document.addEventListener("DOMContentLoaded", () => {
  const MOST = 40, AROUND = 110;  // hits; characters of an excerpt before and after what was found
  const LEAST_CORRECTED = 4, LEAST_TWICE = 9, LEAST_PART = 3;  // letters of a word that may have one wrong letter, or two; of a half of it
  const box = document.querySelector("header input[type='search']"), hits = document.getElementById("hits"), count = document.getElementById("count");
  const none = document.getElementById("none"), own = document.documentElement.lang;

  // ---- words ----
  // A text is cut into words, and characters of Chinese, which has no spaces: two that stand side by side are found as a word. A word of
  // code is found by its parts, too: __shfl_down_sync by shfl, atomicAdd by add.
  const PIECES = /[\u3400-\u9fff]|[\w\u00b5\u00c0-\u024f\u0370-\u03ff]+/g, CHINESE = /[\u3400-\u9fff]/;
  const QUESTION = /什么是|是什么|为什么|什么|怎么|怎样|如何|哪里|可以|吗|呢|了|的|^[和与或及在是]$/g;  // what a question has beside its words
  const once = (make) => {
    const made = new Map();
    return (key) => {
      if (!made.has(key)) made.set(key, make(key));
      return made.get(key);
    };
  };
  const spelled = (word) => word.replace(/([a-z]{3})our/, "$1or").replace(/is(e[dsr]?|ing|ations?)$/, "iz$1");  // as in America
  const allWords = [];
  const stemOf = once((word) => {
    allWords.push(word);
    return /^atomics?$/.test(word) ? "atomic" : lunr.stemmer(new lunr.Token(spelled(word), {})).toString();
  });
  const isStop = once((word) => !lunr.stopWordFilter(word));
  const isKeyword = (run) => run.endsWith("__");  // __shared__ is not the word shared
  const bareOf = (run) => isKeyword(run) ? run : run.replace(/^_+|_+$/g, "").toLowerCase();
  // The stems of a word, or of a word of code and its parts: [whole, ...parts].
  const stemsOf = once((run) => {
    const parts = run.replace(/([a-z\d])([A-Z])/g, "$1_$2").toLowerCase().split("_").filter(Boolean);
    return (parts.length > 1 || isKeyword(run) ? [bareOf(run), ...parts] : [bareOf(run)]).filter((word) => word && !isStop(word)).map(stemOf);
  });
  const wordOf = once((run) => spelled(isKeyword(run) ? run : bareOf(run).replaceAll("_", "")));
  const piecesOf = (text) => [...text.matchAll(PIECES)]
    .map(({ 0: run, index: at }) => ({ run, at, isChinese: CHINESE.test(run), word: wordOf(run) })).filter(({ word }) => word);
  const follows = (pieces, k) => k > 0 && k < pieces.length && pieces[k].isChinese && pieces[k - 1].isChinese && pieces[k].at === pieces[k - 1].at + 1;
  const pairsOf = (run) => run.length === 1 ? [run] : Array.from({ length: run.length - 1 }, (_, k) => run.slice(k, k + 2));
  const wordsOf = (pieces) => pieces.flatMap((piece, k) => {
    if (!piece.isChinese) return stemsOf(piece.run);
    if (follows(pieces, k + 1)) return piece.run + pieces[k + 1].run;
    return follows(pieces, k) ? [] : piece.run;
  });

  // ---- meanings ----
  // A name is known by its letters alone, without plural: "data races", "data-race" and data_race are one name. A Chinese name of one
  // character is none inside other words.
  const allNames = SEARCHED.meanings.flatMap((names, meaning) => names.map((name) => ({ name, meaning, pieces: piecesOf(name) })));
  const meaningOf = new Map(), beginnings = new Set();
  for (const { meaning, pieces } of allNames) {
    const [last, ...before] = pieces.map(({ word }) => word).reverse(), all = before.reverse().join("");
    meaningOf.set(all + stemOf(last), meaning);
    for (let k = 1; k <= all.length + last.length; k++) beginnings.add((all + last).slice(0, k));
  }
  const tokenOf = (meaning) => `§${meaning}`;

  // The names in a text, each as long as it can be, and its other pieces: {pieces, meaning}.
  const readIn = (pieces) => {
    const found = [];
    for (let at = 0; at < pieces.length;) {
      let length = 1, meaning;
      for (let k = at, all = ""; k < pieces.length && (k === at || beginnings.has(all)); all += pieces[k++].word) {
        const known = meaningOf.get(all + stemOf(pieces[k].word)), isInside = k === at && (follows(pieces, k) || follows(pieces, k + 1));
        if (known !== undefined && !isInside) [length, meaning] = [k + 1 - at, known];
      }
      found.push({ pieces: pieces.slice(at, at + length), meaning });
      at += length;
    }
    return found;
  };
  const tokensOf = (text) => {
    const pieces = piecesOf(text);
    return [...wordsOf(pieces), ...readIn(pieces).filter(({ meaning }) => meaning !== undefined).map(({ meaning }) => tokenOf(meaning))];
  };
  const tokensOfMeaning = (meaning) => [tokenOf(meaning), ...SEARCHED.meanings[meaning].flatMap((name) => wordsOf(piecesOf(name)))];
  // What a heading, or a question, names, written as one word and as its stems: "atomic add" names atomicAdd, "timing kernels" "How to
  // time a kernel".
  const namesOf = (text) => {
    const left = readIn(piecesOf(text.replace(/([^\W_])_+(?=[^\W_])/g, "$1 ")))
      .map(({ pieces: [{ word }], meaning }) => ({ word, meaning })).filter(({ word, meaning }) => meaning !== undefined || !isStop(word));
    const named = (formOf) => left.map(({ word, meaning }, k) => meaning !== undefined ? tokenOf(meaning) : formOf(word, k === left.length - 1));
    return [named((word, isLast) => isLast ? stemOf(word) : word).join("").replace(QUESTION, ""), named(stemOf).join(" ")];
  };
  const shortOf = (title) => title.split(/[:：]/, 1)[0];
  const fileOf = (uri) => uri.replace(/(\/README)?(\.[a-zA-Z-]+)?\.html$/, "").split("/").pop();  // or its chapter's folder

  // ---- the index ----
  const sections = SEARCHED.pages.flatMap((page) => page.sections.map(([uri, heading, subject, terms, weight, text], k) => ({
    uri, heading, weight, text, subject: k === 0 ? `${subject} ${fileOf(uri)}` : subject, page: page.page, language: page.language,
    isLesson: page.lesson && k === 0, introduced: terms.map(tokenOf), terms: terms.flatMap(tokensOfMeaning), names: namesOf(k === 0 ? shortOf(subject) : subject),
    namesOfLesson: page.lesson ? namesOf(shortOf(page.sections[0][2])) : [],
  })));
  const index = lunr(function () {
    this.tokenizer = (field) => (Array.isArray(field) ? field : tokensOf(field)).map((word) => new lunr.Token(word, {}));
    this.pipeline.reset();
    this.searchPipeline.reset();
    this.ref("ref");
    this.b(0.4);  // a short heading is not much better than a long one
    this.field("subject", { boost: 6 });
    this.field("terms", { boost: 6 });
    this.field("page");
    this.field("text");
    sections.forEach((section, ref) => this.add({ ...section, ref }, { boost: section.weight }));
  });
  const isThere = (word) => index.invertedIndex[word] !== undefined;

  // ---- what was asked ----
  // A word that is nowhere is replaced: by a name that has it, by the most frequent word that is nearly written so, or by the two
  // words that it is made of. The last word may be unfinished.
  const vocabulary = once(() => lunr.TokenSet.fromArray(allWords.sort()));
  const placesOf = (word) => isThere(stemOf(word)) ? Object.keys(index.invertedIndex[stemOf(word)].text).length : meaningOf.has(stemOf(word)) ? 1 : 0;
  const isBegun = (word) => index.tokenSet.intersect(lunr.TokenSet.fromString(`${word}*`)).toArray().length > 0;
  const isKnown = (run) => {
    const [whole, ...parts] = stemsOf(run);
    return whole === undefined || isThere(whole) || (parts.length > 0 && parts.every(isThere));
  };
  const otherOf = (word, isLast) => {
    const name = allNames.find(({ pieces }) => pieces.some((piece) => isLast ? piece.word.startsWith(word) : stemOf(piece.word) === stemOf(word)));
    if (name) return name.name;
    for (let edits = 1; edits <= (word.length < LEAST_CORRECTED ? 0 : word.length < LEAST_TWICE ? 1 : 2); edits++) {
      const found = vocabulary().intersect(lunr.TokenSet.fromFuzzyString(word, edits)).toArray().filter((other) => other[0] === word[0] && placesOf(other));
      if (found.length) return found.reduce((best, other) => placesOf(other) > placesOf(best) ? other : best);
    }
    for (let k = LEAST_PART; k <= word.length - LEAST_PART; k++) {
      if (isThere(stemOf(word.slice(0, k))) && isThere(stemOf(word.slice(k)))) return `${word.slice(0, k)} ${word.slice(k)}`;
    }
    return null;
  };
  const corrected = (asked) => {
    const read = readIn(piecesOf(asked));
    return read.reduceRight((text, { pieces: [{ run, word, at, isChinese }], meaning }, k) => {
      const isLast = k === read.length - 1;
      if (meaning !== undefined || isChinese || isKnown(run) || (isLast && isBegun(bareOf(run)))) return text;
      return text.slice(0, at) + (otherOf(word, isLast) ?? run) + text.slice(at + run.length);
    }, asked);
  };

  // What is marked in an excerpt: a word, or a name, in all its forms.
  const patternOf = (text) => {
    if (CHINESE.test(text)) return text;
    const word = text.toLowerCase(), stem = stemOf(word);
    let same = 0;
    while (same < word.length && stem[same] === word[same]) same++;
    return `\\b_*${word.slice(0, same).replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/[ -]/g, "[ _-]?")}\\w*`;
  };

  // What each section has to have: words that stand for one part of the question; the last one may be unfinished.
  const unitsOf = (asked) => {
    const units = [], read = readIn(piecesOf(asked));
    let chinese = "";
    const end = () => {
      for (const run of chinese.split(QUESTION).filter(Boolean)) {
        const pairs = pairsOf(run), there = pairs.filter(run.length === 1 ? isBegun : isThere);  // two characters may be of two words
        const names = [...run].filter((character) => meaningOf.has(character)).map((character) => tokenOf(meaningOf.get(character)));
        units.push({ words: [there, names, pairs].find((words) => words.length), begun: run.length === 1, shown: [patternOf(run)] });
      }
      chinese = "";
    };
    read.forEach(({ pieces, meaning }, k) => {
      const { run, word, isChinese } = pieces[0];
      if (meaning === undefined && isChinese) return void (chinese += run);
      end();
      if (meaning !== undefined) units.push({ words: [tokenOf(meaning)], also: wordsOf(pieces), shown: SEARCHED.meanings[meaning].map(patternOf) });
      else if (!isStop(word)) {
        const [whole, ...parts] = stemsOf(run), last = k === read.length - 1, isWhole = !parts.length || isThere(whole) || (last && isBegun(whole));
        units.push({ words: isWhole ? [whole] : parts, begun: last && isWhole, shown: [patternOf(run)] });
      }
    });
    end();
    return units;
  };

  // ---- the hits ----
  // First the sections of a lesson which introduce what was asked and whose title names it, then the lesson itself, sections of other
  // lessons which introduce it, and those whose heading names it. Of the others, the less of the question a section has, the less it counts.
  const found = (asked) => {
    const units = unitsOf(asked), said = namesOf(asked), isAsked = (known) => known.some((name) => said.includes(name));
    const rankOf = ({ introduced, names, namesOfLesson, isLesson }) => {
      if (isAsked(introduced)) return isAsked(namesOfLesson) ? 4 : 2;
      return !isAsked(names) ? 0 : isLesson ? 3 : 1;
    };
    const results = resultsOf(units).map(({ ref, score, matchData: { metadata } }) => {
      const has = (word, begun) => metadata[word] !== undefined || (begun && Object.keys(metadata).some((other) => other.startsWith(word)));
      const shares = units.map(({ words, begun }) => words.filter((word) => has(word, begun)).length / words.length);
      const share = shares.reduce((sum, one) => sum + one, 0) / units.length;
      return { section: sections[ref], rank: rankOf(sections[ref]), score: score * share ** 2, share };
    });
    const shown = results.filter(({ share }) => share > 0).sort((a, b) => b.rank - a.rank || b.score - a.score);
    return { units, all: shown.map(({ section }) => section), whole: shown.filter(({ share }) => share === 1).length };
  };
  const resultsOf = (units) => units.length === 0 ? [] : index.query((query) => {
    for (const { words, also, begun } of units) {
      for (const word of words) {
        query.term(word, { usePipeline: false, boost: 10 });
        if (begun) query.term(word, { usePipeline: false, wildcard: lunr.Query.wildcard.TRAILING });
      }
      for (const word of also ?? []) query.term(word, { usePipeline: false, boost: 5 });
    }
  });

  // ---- the page ----
  const element = (name, attributes, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  // A part of a section's text, with what was asked for marked.
  const excerpt = (text, units) => {
    const pattern = new RegExp(units.flatMap((unit) => unit.shown).sort((a, b) => b.length - a.length).join("|"), "gi");
    const at = Math.max(0, text.search(pattern)), start = Math.max(0, at - AROUND), space = start && text.slice(start, at).indexOf(" ");
    const begin = start + space + (start && 1), end = at + 2 * AROUND;  // after a space, of which Chinese may have none
    const part = text.slice(begin, end), parts = [];
    let last = 0;
    for (const match of part.matchAll(pattern)) {
      parts.push(part.slice(last, match.index), element("mark", {}, match[0]));
      last = match.index + match[0].length;
    }
    return [begin > 0 ? "… " : "", ...parts, part.slice(last), end < text.length ? " …" : ""];
  };

  const show = () => {
    const asked = box.value.trim(), meant = corrected(asked), { units, all, whole } = found(meant);
    const text = asked === "" ? WORDS.ask : all.length === 0 ? WORDS.found_none : whole === all.length ? WORDS.found : WORDS.found_some;
    const said = meant === asked ? [] : [WORDS.corrected.replace("{}", meant)];
    count.textContent = [...said, text.replace("{}", whole).replace("{}", all.length - whole)].join(" ");
    none.hidden = asked === "" || all.length > 0;
    hits.replaceChildren(...all.slice(0, MOST).map((section) => {
      const link = element("a", { href: section.uri }, section.heading);
      const hit = element("li", section.language === own ? {} : { lang: section.language }, link);
      if (section.heading !== section.page) hit.append(element("small", {}, section.page));
      hit.append(element("p", {}, ...excerpt(section.text, units)));
      return hit;
    }));
  };
  box.value = new URLSearchParams(location.search).get("q") || "";
  box.addEventListener("input", () => {
    history.replaceState(null, "", `?q=${encodeURIComponent(box.value)}`);
    show();
  });
  // Enter and the arrows lead to the hits, and back.
  const go = (step) => {
    const stops = [box, ...hits.querySelectorAll("a")];
    stops[Math.min(Math.max(stops.indexOf(document.activeElement) + step, 0), stops.length - 1)].focus();
  };
  box.form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(1);
  });
  document.addEventListener("keydown", (key) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key], isThere = key.target === box || hits.contains(key.target);
    if (!step || !isThere || key.isComposing || key.ctrlKey || key.metaKey || key.altKey) return;
    key.preventDefault();
    go(step);
  });
  show();
  box.focus();
});
