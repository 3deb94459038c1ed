/* Moves between the columns of a chart with the arrow keys, so that a chart is one stop of the Tab key.
   Without it, every column is a stop. */
(function () {
  "use strict";
  const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

  for (const plot of document.querySelectorAll("[data-chart]")) {
    const columns = [...plot.querySelectorAll("g[tabindex]")];
    const stopAt = (chosen) => columns.forEach((each) => each.setAttribute("tabindex", each === chosen ? "0" : "-1"));
    stopAt(columns[columns.length - 1]);
    const chart = plot.parentElement; // listeners of its own would make the drawing a stop, too
    chart.addEventListener("focusin", (event) => stopAt(event.target));
    chart.addEventListener("keydown", (event) => {
      const at = columns.indexOf(event.target);
      if (event.key === "Escape" && at >= 0) return event.target.blur();
      if (!(event.key in KEYS) || at < 0) return;
      event.preventDefault();
      columns[Math.min(columns.length - 1, Math.max(0, at + KEYS[event.key]))].focus();
    });
  }
})();
