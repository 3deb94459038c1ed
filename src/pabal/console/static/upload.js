/* Uploads the form of a campaign's file and shows its progress; without this script, the browser posts the form.
   Keeps the date and the checkbox of the schedule consistent. */
"use strict";
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("form[data-upload]")) return;
  event.preventDefault();
  const file = form.querySelector("input[type=file]").files[0];
  if (!file) return;
  const bar = form.querySelector("progress");
  const status = form.querySelector("[role=status]");
  const button = form.querySelector("button");
  const alert = form.querySelector("[role=alert]");
  const request = new XMLHttpRequest(); // fetch reports no upload progress
  const showError = (text) => {
    alert.textContent = text;
    alert.hidden = false;
  };
  const fail = () => {
    button.disabled = false;
    bar.hidden = true;
    status.textContent = "";
    const texts = { 403: form.dataset.old, 409: form.dataset.old, 413: form.dataset.large, 429: form.dataset.busy };
    showError(texts[request.status] || form.dataset.failed);
  };
  if (file.size > Number(form.dataset.most)) {
    /* The service would close the connection, and the browser could not tell why. */
    showError(form.dataset.large);
    return;
  }
  request.open("POST", form.action);
  request.upload.addEventListener("progress", (sent) => {
    if (!sent.lengthComputable) return;
    const percent = Math.floor((100 * sent.loaded) / sent.total);
    bar.value = percent;
    status.textContent = form.dataset.sending.replace("000", String(percent));
  });
  request.addEventListener("load", () => {
    if (request.status === 200) window.location.reload();
    else fail();
  });
  request.addEventListener("error", fail);
  button.disabled = true;
  alert.hidden = true;
  bar.value = 0;
  bar.hidden = false;
  request.send(new FormData(form));
});
document.addEventListener("change", (event) => {
  const { name, form } = event.target;
  if (name === "sendDate" && event.target.value) form.elements.later.checked = true;
  if (name === "later" && !event.target.checked) form.elements.sendDate.value = "";
});
