// The editor of templates: draws the picture that is chosen but not saved yet where the preview shows pictures.
(function () {
  "use strict";

  async function draw() {
    const canvas = document.querySelector("canvas[data-picture]");
    const file = document.querySelector("#editor [name=image]").files[0];
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

  document.addEventListener("htmx:afterSettle", draw);
  draw();
})();
