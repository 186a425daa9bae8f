"use strict";
// Runs before the page is drawn: the theme that the reader has chosen, else the system's.
{
  const chosen = localStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
}
