// Makes a picture fit: converts it to JPEG, and makes it smaller until it has no more pixels and bytes than allowed.
(function () {
  "use strict";

  const QUALITIES = [0.9, 0.8, 0.7, 0.6, 0.5];
  const MOST_PX = 1600; // more than any phone shows of a message
  const LEAST_PX = 64;

  function encode(canvas, quality) {
    return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", quality));
  }

  function draw(picture, scale) {
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#fff"; // JPEG has no transparency
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  // Returns the file that fits with its width and height, null where the given one fits already or is no picture.
  window.fitPicture = async function (file, mostBytes, mostPx) {
    let picture;
    try {
      picture = await createImageBitmap(file);
    } catch (error) {
      return null; // the server says what is wrong with it
    }
    const longest = Math.max(picture.width, picture.height);
    const isSmall = file.size <= mostBytes && (!mostPx || longest <= mostPx);
    if (file.type === "image/jpeg" && isSmall) return null;
    let scale = Math.min(1, (mostPx || MOST_PX) / longest, MOST_PX / longest);
    while (longest * scale >= Math.min(LEAST_PX, longest)) {
      const canvas = draw(picture, scale);
      for (const quality of QUALITIES) {
        const body = await encode(canvas, quality);
        if (body && body.size <= mostBytes) {
          const name = file.name.replace(/\.[^.]*$/, "") + ".jpg";
          const fitted = new File([body], name, { type: "image/jpeg" });
          return { file: fitted, width: canvas.width, height: canvas.height };
        }
      }
      scale *= 0.8;
    }
    return null;
  };

  // Says beside the field what the picture has become.
  window.tellFitted = function (input, fitted) {
    const place = document.getElementById(input.dataset.fitted);
    if (!place) return;
    const text = place.dataset.text;
    place.textContent = fitted
      ? text.replace("000", fitted.width).replace("111", fitted.height).replace("222", fitted.file.size.toLocaleString())
      : "";
  };
})();
