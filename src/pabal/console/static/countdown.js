/* Counts the seconds down that a token is still good; the last minute and the end are told to those who listen. */
"use strict";
document.querySelectorAll("[data-left-s]").forEach((clock) => {
  const news = document.getElementById("countdown-news");
  const begun = performance.now();
  const all = Number(clock.dataset.leftS);
  const tell = (words) => {
    if (news.textContent === words) return;
    news.textContent = words;
    news.hidden = false;
  };
  const show = () => {
    const left = Math.max(0, Math.ceil(all - (performance.now() - begun) / 1000));
    clock.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (left === 0) tell(clock.dataset.over);
    else if (left <= 60) tell(clock.dataset.soon);
    if (left > 0) setTimeout(show, 250);
  };
  show();
});
