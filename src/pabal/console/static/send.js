// The send page: a picture is made to fit and read here, because forms of the console carry text only, and drawn as
// it will be sent;
// a date that is picked means that the message is scheduled; nothing that is typed is lost.
(function () {
  "use strict";

  function field(name) {
    return document.querySelector('#message [name="' + name + '"]');
  }

  // The names of the fields of each picture begin so.
  const PLACES = ["image", "image2", "image3"];

  async function read(input) {
    const chosen = [...input.files];
    const most = Number(input.dataset.most);
    const free = most === 1 ? ["image"] : PLACES.slice(0, most).filter((place) => !field(place + "_name").value);
    const told = document.getElementById(input.dataset.fitted);
    if (chosen.length > free.length) {
      told.textContent = told.dataset.many;
      input.value = "";
      return;
    }
    if (!chosen.length && most === 1) await put("image", null, 0);
    for (const [number, given] of chosen.entries()) {
      const share = bytesLeft(Number(input.dataset.together), free.slice(number)) / (chosen.length - number);
      const mostBytes = Math.min(Number(input.dataset.picture), share);
      const fitted = await window.fitPicture(given, mostBytes, Number(input.dataset.px));
      if (given !== input.files[number]) return; // others were chosen meanwhile
      window.tellFitted(input, fitted);
      await put(free[number], fitted ? fitted.file : given, Number(input.dataset.picture));
    }
    document.getElementById("picture-look").dispatchEvent(new Event("picture"));
  }

  // How many bytes of all pictures together are left for those in the free places.
  function bytesLeft(together, free) {
    const taken = PLACES.filter((place) => !free.includes(place)).map((place) => atob(field(place + "_body").value).length);
    return together ? taken.reduce((left, bytes) => left - bytes, together) : Infinity;
  }

  async function put(place, file, mostBytes) {
    field(place + "_name").value = file ? file.name : "";
    field(place + "_type").value = file ? file.type : "";
    // One byte more than may be sent tells the server enough to say that there are too many.
    const bytes = file ? new Uint8Array(await file.slice(0, mostBytes + 1).arrayBuffer()) : [];
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    field(place + "_body").value = btoa(text);
  }

  async function draw() {
    for (const canvas of document.querySelectorAll("canvas[data-shows]")) {
      const body = field(canvas.dataset.shows);
      if (!body || !body.value) continue;
      const bytes = Uint8Array.from(atob(body.value), (character) => character.charCodeAt(0));
      try {
        const picture = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
        canvas.width = picture.width;
        canvas.height = picture.height;
        canvas.getContext("2d").drawImage(picture, 0, 0);
      } catch (error) {
        canvas.width = canvas.height = 0; // no picture: the server says what is wrong with it
      }
    }
  }

  // Whoever picks a date wants it then, and whoever does not schedule it wants no date.
  function schedule(changed) {
    const later = document.querySelector("#message [name=later][value='1']");
    if (!later) return;
    if (changed.name === "sendDate" && changed.value) later.checked = true;
    if (changed.name === "later" && changed.value !== "1") field("sendDate").value = "";
    showPicked(later);
  }
  function showPicked(later) {
    const told = document.getElementById("picked");
    const at = field("sendDate").value;
    told.textContent = later.checked && at ? `${at.slice(5, 10).replace("-", "/")} ${at.slice(11, 16)}` : told.dataset.about;
  }

  // A group that is ticked before anything is typed is the way that was meant.
  function follow(changed) {
    const isGroup = changed.matches("#message .way.group input");
    if (isGroup && changed.checked && !field("receivers").value.trim()) document.querySelector("#message [name=whom][value=group]").checked = true;
  }

  // What is typed while the form is being made anew is typed into the new one.
  let typed = [];
  function keep(event) {
    if (event.detail.target.id !== "send") return;
    const sent = event.detail.requestConfig.formData;
    const fields = [...document.querySelectorAll("#message input[id^=at-], #message textarea")];
    typed = fields.filter((one) => sent.has(one.name) && plain(sent.get(one.name)) !== plain(one.value));
  }
  function plain(text) {
    return text.replaceAll("\r\n", "\n");
  }
  function retype() {
    for (const one of typed.splice(0)) {
      const now = field(one.name);
      if (!now) continue;
      now.value = one.value;
      now.dispatchEvent(new Event("input", { bubbles: true }));
    }
  }

  // A field is marked as wrong as long as something is said beside it.
  function mark() {
    for (const one of document.querySelectorAll("#message [aria-describedby*=wrong-]")) {
      const ids = one.getAttribute("aria-describedby").split(" ").filter((id) => id.startsWith("wrong-"));
      const isWrong = ids.some((id) => document.getElementById(id)?.textContent.trim());
      if (isWrong) one.setAttribute("aria-invalid", "true");
      else one.removeAttribute("aria-invalid");
    }
  }

  // How much of what a field takes is typed.
  function count({ target }) {
    const told = target.closest("label")?.querySelector("[data-limit]");
    if (!told) return;
    told.textContent = `${target.value.length} / ${told.dataset.limit}`;
    told.classList.toggle("over", target.value.length > Number(told.dataset.limit));
  }

  // Chips put a variable where the cursor is.
  function showChips() {
    for (const chips of document.querySelectorAll(".chips[hidden]")) chips.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("[data-insert]");
    if (!chip) return;
    const into = document.getElementById(chip.closest("[data-into]").dataset.into);
    into.focus();
    into.setRangeText(chip.dataset.insert, into.selectionStart, into.selectionEnd, "end");
    into.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.addEventListener("htmx:afterSettle", showChips);
  showChips();

  document.addEventListener("input", count);
  document.addEventListener("htmx:beforeSwap", keep);
  document.addEventListener("htmx:afterSettle", mark);
  document.addEventListener("htmx:afterSettle", retype);
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-picture]")) read(event.target);
    else schedule(event.target);
    follow(event.target);
  });
  document.addEventListener("input", (event) => schedule(event.target));
  document.addEventListener("htmx:afterSettle", draw);
  draw();
})();
