/* Sends a chosen file as it is, and shows how much of it has gone; what becomes of it, the page asks by itself.
   Dates and boxes of the form that sends it agree with each other. */
"use strict";
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-upload]")) return;
  event.preventDefault();
  const file = form.querySelector("input[type=file]").files[0];
  if (!file) return;
  const bar = form.querySelector("progress");
  const said = form.querySelector("[role=status]");
  const button = form.querySelector("button");
  const wrong = form.querySelector("[role=alert]");
  const once = form.querySelector("input[name=once]").checked ? "1" : "0";
  const query = new URLSearchParams({ name: file.name, once });
  const request = new XMLHttpRequest();
  const tell = (words) => {
    wrong.textContent = words;
    wrong.hidden = false;
  };
  const fail = () => {
    button.disabled = false;
    bar.hidden = true;
    said.textContent = "";
    const words = { 403: form.dataset.old, 409: form.dataset.old, 413: form.dataset.large };
    tell(words[request.status] || form.dataset.failed);
  };
  if (file.size > Number(form.dataset.most)) {
    /* The service would cut the connection, and the browser could not say why. */
    tell(form.dataset.large);
    return;
  }
  request.open("POST", `${form.action}?${query}`);
  request.setRequestHeader("X-CSRF-Token", form.dataset.csrf);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.addEventListener("progress", (sent) => {
    if (!sent.lengthComputable) return;
    const percent = Math.floor((100 * sent.loaded) / sent.total);
    bar.value = percent;
    said.textContent = form.dataset.sending.replace("000", String(percent));
  });
  request.addEventListener("load", () => {
    if (request.status === 204) window.location.reload();
    else fail();
  });
  request.addEventListener("error", fail);
  button.disabled = true;
  wrong.hidden = true;
  bar.value = 0;
  bar.hidden = false;
  request.send(file);
});
/* Whoever picks a date wants it then, and whoever does not schedule it wants no date. */
document.addEventListener("change", (event) => {
  const { name, form } = event.target;
  if (name === "sendDate" && event.target.value) form.elements.later.checked = true;
  if (name === "later" && !event.target.checked) form.elements.sendDate.value = "";
});
