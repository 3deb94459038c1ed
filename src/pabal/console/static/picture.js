// The editor of templates: makes a chosen picture fit, and draws it where the preview shows pictures.
(function () {
  "use strict";

  async function draw() {
    const canvas = document.querySelector("canvas[data-picture]");
    const file = document.querySelector("#editor [name=image]")?.files[0];
    if (!canvas || !file) return;
    for (const other of canvas.parentElement.querySelectorAll("img.picture-shown, p.picture")) other.hidden = true;
    try {
      const picture = await createImageBitmap(file);
      canvas.width = picture.width;
      canvas.height = picture.height;
      canvas.getContext("2d").drawImage(picture, 0, 0);
      canvas.hidden = false;
    } catch (error) {
      canvas.hidden = true; // no picture: the server says so when it is saved
    }
  }

  // The chosen picture is replaced by one that fits, so that the form carries that one.
  document.addEventListener("change", async (event) => {
    const input = event.target;
    const chosen = input.matches("input[type=file][data-most]") ? input.files[0] : null;
    if (!chosen) return;
    const fitted = await window.fitPicture(chosen, Number(input.dataset.most), 0);
    if (chosen !== input.files[0]) return; // another one was chosen meanwhile
    window.tellFitted(input, fitted);
    if (!fitted) return;
    const files = new DataTransfer();
    files.items.add(fitted.file);
    input.files = files.files;
    draw();
  });
  document.addEventListener("htmx:afterSettle", draw);
  draw();
})();
