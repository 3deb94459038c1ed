/* Makes a date-time field one that takes words ("tomorrow 08:00", "11/19 10:00") and has a calendar that keys move in.
   Without this script, the field is the browser's own. */
(function () {
  "use strict";

  const DAY_MS = 86400000;
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
  const TIMES = ["08:00", "10:00", "12:00", "15:00", "18:00"];
  const WORDS = ["open", "today", "tomorrow", "after", "mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  const MORE = ["before", "next", "time", "close", "hint", "wrong"];

  // Days are counted in UTC: a day of the service's zone is never shifted by the browser's.
  const day = (text) => new Date(`${text}T00:00Z`);
  const spelled = (date) => date.toISOString().slice(0, 10);
  const plus = (text, days) => spelled(new Date(day(text).getTime() + days * DAY_MS));
  const weekday = (text) => (day(text).getUTCDay() + 6) % 7; // Monday is 0
  const two = (number) => String(number).padStart(2, "0");
  const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day(text).getTime()) && spelled(day(text)) === text;

  function wordsOf(field) {
    const given = field.dataset.picker.split("|");
    return Object.fromEntries([...WORDS, ...MORE].map((name, place) => [name, given[place]]));
  }

  // The day that a word names, in Korean or English; "" for none.
  function namedDay(text, today) {
    const relative = { 오늘: 0, today: 0, 내일: 1, tomorrow: 1, 모레: 2 };
    for (const [word, days] of Object.entries(relative)) if (text.includes(word)) return plus(today, days);
    const found = /(월|화|수|목|금|토|일)요일|\b(mon|tue|wed|thu|fri|sat|sun)/.exec(text);
    if (!found) return "";
    const place = found[1] ? "월화수목금토일".indexOf(found[1]) : WORDS.indexOf(found[2]) - WORDS.indexOf("mon");
    return plus(today, (place - weekday(today) + 7) % 7 || 7);
  }

  // The day that numbers name: 2026-11-19, 11/19 or 11월 19일; one that is over is next year's.
  function writtenDay(text, today) {
    const found = /(?:(\d{4})\s*[-./년]\s*)?(\d{1,2})\s*[-./월]\s*(\d{1,2})/.exec(text);
    if (!found) return "";
    const of = (year) => `${year}-${two(found[2])}-${two(found[3])}`;
    const given = of(found[1] || today.slice(0, 4));
    return !found[1] && given < today ? of(Number(today.slice(0, 4)) + 1) : given;
  }

  function writtenTime(text) {
    const clock = /(\d{1,2}):(\d\d)/.exec(text) || /(\d{1,2})\s*시(?:\s*(\d{1,2})\s*분)?/.exec(text) || /\b(\d{1,2})()\s*(?=am|pm)/.exec(text);
    if (!clock) return "";
    let hour = Number(clock[1]);
    if (/오후|저녁|pm/.test(text) && hour < 12) hour += 12;
    if (/오전|am/.test(text) && hour === 12) hour = 0;
    const minute = Number(clock[2] || 0);
    return hour < 24 && minute < 60 ? `${two(hour)}:${two(minute)}` : "";
  }

  // What was typed as `2026-11-19 10:00`; "" where it is not a date and time.
  function read(typed, now) {
    const text = typed.trim().toLowerCase();
    const today = now.slice(0, 10);
    const time = writtenTime(text) || (/아침|morning/.test(text) ? "08:00" : "");
    const on = namedDay(text, today) || writtenDay(text, today) || (time > now.slice(11) ? today : plus(today, 1));
    return time && isDay(on) ? `${on} ${time}` : "";
  }

  function make(name, properties, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  function enhance(field) {
    if (field.querySelector(".to-calendar")) return;
    const input = field.querySelector("input");
    const words = wordsOf(field);
    const now = field.dataset.now;
    const value = input.value.replace("T", " ");
    input.type = "text";
    input.value = value;
    input.placeholder = words.hint;
    const button = make("button", { type: "button", className: "to-calendar", ariaLabel: words.open, ariaExpanded: "false", ariaHasPopup: "dialog" });
    button.append(icon(field));
    const calendar = make("div", { className: "calendar", hidden: true, role: "dialog", ariaLabel: words.open });
    field.append(button, calendar);
    let shown = "";

    function settle(found) {
      isSettling = true;
      input.value = found;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      input.dispatchEvent(new Event("change", { bubbles: true }));
      isSettling = false;
    }

    let isSettling = false;
    function normalize(event) {
      if (isSettling) return;
      if (!input.value.trim()) return tell("");
      const found = read(input.value, now);
      tell(found ? "" : words.wrong);
      if (found === input.value) return;
      if (event) event.stopPropagation();
      if (found) settle(found);
    }

    function tell(wrong) {
      const place = field.querySelector(".wrong");
      if (wrong || place.textContent === words.wrong) place.textContent = wrong;
      if (wrong) input.setAttribute("aria-invalid", "true");
      else if (!place.textContent) input.removeAttribute("aria-invalid");
    }

    function open(isOpen) {
      calendar.hidden = !isOpen;
      button.ariaExpanded = String(isOpen);
      if (!isOpen) return;
      draw((read(input.value, now) || now).slice(0, 10));
      calendar.querySelector("td button[tabindex='0']").focus();
      calendar.scrollIntoView({ block: "nearest" });
    }

    function choose(on, time) {
      settle(`${on} ${time || read(input.value, now).slice(11) || "10:00"}`);
      tell("");
      draw(on);
    }

    // The month of a day, in which that day can be reached by Tab.
    function draw(on) {
      shown = on;
      const chosen = read(input.value, now).slice(0, 10);
      const month = (text, by, label) => make("button", { type: "button", ariaLabel: label, textContent: text, onclick: () => move(by) });
      const head = make("div", { className: "month" }, month("‹", -1, words.before), make("strong", { ariaLive: "polite", textContent: on.slice(0, 7).replace("-", ". ") }), month("›", 1, words.next));
      const table = make("table", {}, make("tr", {}, ...WORDS.slice(4).map((each) => make("th", { scope: "col", textContent: words[each] }))));
      const first = `${on.slice(0, 7)}-01`;
      for (let at = plus(first, -weekday(first)); at.slice(0, 7) <= on.slice(0, 7); ) {
        const row = make("tr", {});
        for (let place = 0; place < 7; place += 1, at = plus(at, 1)) row.append(make("td", {}, ...cell(at, on, chosen)));
        table.append(row);
      }
      const times = make("p", { className: "times" }, ...TIMES.map((each) => make("button", { type: "button", textContent: each, onclick: () => (choose(chosen || shown, each), close()) })));
      times.append(make("button", { type: "button", textContent: `${words.tomorrow} 08:00`, onclick: () => (choose(plus(now.slice(0, 10), 1), "08:00"), close()) }));
      calendar.replaceChildren(head, table, times, make("button", { type: "button", className: "quiet", textContent: words.close, onclick: close }));
    }

    function cell(at, on, chosen) {
      if (at.slice(0, 7) !== on.slice(0, 7)) return [];
      const isPast = at < now.slice(0, 10);
      const label = `${Number(at.slice(8))} ${words[WORDS[4 + weekday(at)]]}, ${at.slice(0, 7)}`;
      const properties = { type: "button", textContent: String(Number(at.slice(8))), ariaLabel: label, ariaPressed: String(at === chosen), disabled: isPast, tabIndex: at === on ? 0 : -1 };
      const pressed = make("button", { ...properties, onclick: () => (choose(at), focusOn(at)) });
      pressed.dataset.day = at;
      if (at === now.slice(0, 10)) pressed.ariaCurrent = "date";
      return [pressed];
    }

    function move(months) {
      const at = day(`${shown.slice(0, 7)}-01`);
      at.setUTCMonth(at.getUTCMonth() + months);
      const first = spelled(at);
      if (first.slice(0, 7) < now.slice(0, 7)) return;
      focusOn(first < now.slice(0, 10) ? now.slice(0, 10) : first);
    }

    function focusOn(at) {
      if (at < now.slice(0, 10)) return;
      draw(at);
      calendar.querySelector(`[data-day="${at}"]`).focus();
    }

    function close() {
      open(false);
      button.focus();
    }

    button.addEventListener("click", () => open(calendar.hidden));
    // Words are told to nobody until they are a date.
    input.addEventListener("input", (event) => {
      if (input.value && !/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/.test(input.value)) event.stopPropagation();
    });
    input.addEventListener("change", normalize);
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") open(true);
      else if (event.key === "Enter") return normalize();
      else return;
      event.preventDefault();
    });
    calendar.addEventListener("keydown", (event) => {
      const at = event.target.dataset.day;
      if (event.key === "Escape") return close();
      if (at && event.key in STEPS) focusOn(plus(at, STEPS[event.key]));
      else if (at && ["PageUp", "PageDown"].includes(event.key)) move(event.key === "PageUp" ? -1 : 1);
      else return;
      event.preventDefault();
    });
    field.addEventListener("focusout", (event) => {
      if (!calendar.hidden && event.relatedTarget && !field.contains(event.relatedTarget)) open(false);
    });
    document.addEventListener("pointerdown", (event) => {
      if (!calendar.hidden && !field.contains(event.target)) open(false);
    });
    tell("");
  }

  function icon(field) {
    const shown = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    shown.setAttribute("class", "icon");
    shown.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", field.dataset.icon);
    shown.append(use);
    return shown;
  }

  const enhanceAll = () => document.querySelectorAll(".date-time[data-picker]").forEach(enhance);
  document.addEventListener("htmx:afterSettle", enhanceAll);
  enhanceAll();
})();
