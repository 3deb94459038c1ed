/* Makes a field for a day, or a date and time, one that takes words ("tomorrow 08:00", "11/19") and has a calendar that
   keys move in. A field with `data-future` is for what is still to come, the others are for what was.
   Without this script, the field is the browser's own. */
(function () {
  "use strict";

  const DAY_MS = 86400000;
  const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
  const TIMES = ["08:00", "10:00", "12:00", "15:00", "18:00"];
  const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  const WORDS = ["open", "today", "tomorrow", ...WEEKDAYS, "before", "next", "close", "hint", "wrong"];

  // Days are counted in UTC: a day of the service's zone is never shifted by the browser's.
  const day = (text) => new Date(`${text}T00:00Z`);
  const spelled = (date) => date.toISOString().slice(0, 10);
  const plus = (text, days) => spelled(new Date(day(text).getTime() + days * DAY_MS));
  const weekday = (text) => (day(text).getUTCDay() + 6) % 7; // Monday is 0
  const two = (number) => String(number).padStart(2, "0");
  const isDay = (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day(text).getTime()) && spelled(day(text)) === text;

  function wordsOf(field) {
    const given = field.dataset.picker.split("|");
    return Object.fromEntries(WORDS.map((name, place) => [name, given[place]]));
  }

  // The day that a word names, in Korean or English; "" for none. A weekday is the next one, or the last.
  function namedDay(text, today, isFuture) {
    const relative = { 모레: 2, "day after tomorrow": 2, 내일: 1, tomorrow: 1, 오늘: 0, today: 0, 어제: -1, yesterday: -1 };
    for (const [word, days] of Object.entries(relative)) if (text.includes(word)) return plus(today, days);
    const found = /(월|화|수|목|금|토|일)요일|\b(mon|tue|wed|thu|fri|sat|sun)/.exec(text);
    if (!found) return "";
    const place = found[1] ? "월화수목금토일".indexOf(found[1]) : WEEKDAYS.indexOf(found[2]);
    return isFuture ? plus(today, (place - weekday(today) + 7) % 7 || 7) : plus(today, -((weekday(today) - place + 7) % 7));
  }

  // The day that numbers name: 2026-11-19, 11/19 or 11월 19일; of what is to come, one that is over is next year's.
  function writtenDay(text, today, isFuture) {
    const found = /(?:(\d{4})\s*[-./년]\s*)?(\d{1,2})\s*[-./월]\s*(\d{1,2})/.exec(text);
    if (!found) return "";
    const of = (year) => `${year}-${two(found[2])}-${two(found[3])}`;
    const given = of(found[1] || today.slice(0, 4));
    return !found[1] && isFuture && given < today ? of(Number(today.slice(0, 4)) + 1) : given;
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

  // What was typed as `2026-11-19`, with `10:00` where a time is asked for; "" where it is none.
  function read(typed, { now, hasTime, isFuture }) {
    const text = typed.trim().toLowerCase();
    const today = now.slice(0, 10);
    const on = namedDay(text, today, isFuture) || writtenDay(text, today, isFuture);
    if (!hasTime) return isDay(on) ? on : "";
    const time = writtenTime(text) || (/아침|morning/.test(text) ? "08:00" : "");
    const meant = on || (!isFuture || time > now.slice(11) ? today : plus(today, 1));
    return time && isDay(meant) ? `${meant} ${time}` : "";
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
    const asked = { now: field.dataset.now, hasTime: input.type === "datetime-local", isFuture: "future" in field.dataset };
    const today = asked.now.slice(0, 10);
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
      const found = read(input.value, asked);
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
      calendar.classList.remove("from-right");
      calendar.classList.toggle("from-right", calendar.getBoundingClientRect().right > document.documentElement.clientWidth - 8);
      button.ariaExpanded = String(isOpen);
      if (!isOpen) return;
      draw(read(input.value, asked).slice(0, 10) || today);
      calendar.querySelector("td button[tabindex='0']").focus();
      calendar.scrollIntoView({ block: "nearest" });
    }

    function choose(on, time) {
      settle(asked.hasTime ? `${on} ${time || read(input.value, asked).slice(11) || "10:00"}` : on);
      tell("");
      if (time || !asked.hasTime) return close();
      focusOn(on);
    }

    // The month of a day, in which that day can be reached by Tab.
    function draw(on) {
      shown = on;
      const chosen = read(input.value, asked).slice(0, 10);
      const month = (text, by, label) => make("button", { type: "button", ariaLabel: label, textContent: text, onclick: () => move(by) });
      const head = make("div", { className: "month" }, month("‹", -1, words.before), make("strong", { ariaLive: "polite", textContent: on.slice(0, 7).replace("-", ". ") }), month("›", 1, words.next));
      const table = make("table", {}, make("tr", {}, ...WEEKDAYS.map((each) => make("th", { scope: "col", textContent: words[each] }))));
      const first = `${on.slice(0, 7)}-01`;
      for (let at = plus(first, -weekday(first)); at.slice(0, 7) <= on.slice(0, 7); ) {
        const row = make("tr", {});
        for (let place = 0; place < 7; place += 1, at = plus(at, 1)) row.append(make("td", {}, ...cell(at, on, chosen)));
        table.append(row);
      }
      calendar.replaceChildren(head, table, shortcuts(chosen || on), make("button", { type: "button", className: "quiet", textContent: words.close, onclick: close }));
    }

    // What most people pick, in one step.
    function shortcuts(on) {
      const shortcut = (text, ...picked) => make("button", { type: "button", textContent: text, onclick: () => choose(...picked) });
      const row = make("p", { className: "times" });
      if (asked.hasTime) row.append(...TIMES.map((each) => shortcut(each, on, each)));
      if (asked.hasTime && asked.isFuture) row.append(shortcut(`${words.tomorrow} 08:00`, plus(today, 1), "08:00"));
      if (!asked.hasTime && !asked.isFuture) row.append(shortcut(words.today, today));
      return row;
    }

    const isOver = (at) => asked.isFuture && at < today;

    function cell(at, on, chosen) {
      if (at.slice(0, 7) !== on.slice(0, 7)) return [];
      const label = `${Number(at.slice(8))} ${words[WEEKDAYS[weekday(at)]]}, ${at.slice(0, 7)}`;
      const properties = { type: "button", textContent: String(Number(at.slice(8))), ariaLabel: label, ariaPressed: String(at === chosen), disabled: isOver(at), tabIndex: at === on ? 0 : -1 };
      const pressed = make("button", { ...properties, onclick: () => choose(at) });
      pressed.dataset.day = at;
      if (at === today) pressed.ariaCurrent = "date";
      return [pressed];
    }

    function move(months) {
      const at = day(`${shown.slice(0, 7)}-01`);
      at.setUTCMonth(at.getUTCMonth() + months);
      const first = spelled(at);
      focusOn(isOver(first) && first.slice(0, 7) === today.slice(0, 7) ? today : first);
    }

    function focusOn(at) {
      if (isOver(at)) return;
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
      if (input.value && read(input.value, asked) !== input.value.replace("T", " ")) event.stopPropagation();
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
