/** Files of what is on the screen. */

import type { FlowData } from "../data/flow";
import { csvOf, fileName, type Picture, save, savePicture } from "../export/write";
import { drawStack } from "../panels/stack";
import { announced, failed, palette, viewOf } from "../view/app";
import { wishOf } from "../view/board";

export function ExportMenu({ data }: { data: FlowData }): preact.JSX.Element {
  const write = (what: "png" | "svg" | "csv"): void => {
    exportFlow(data, what)
      .then((name) => (announced.value = `${name} saved`))
      .catch(failed);
  };
  return (
    <span class="switch" role="group" aria-label="Save what is on the screen">
      <button type="button" onClick={() => write("png")}>
        PNG
      </button>
      <button type="button" onClick={() => write("svg")}>
        SVG
      </button>
      <button type="button" onClick={() => write("csv")}>
        CSV
      </button>
    </span>
  );
}

async function exportFlow(data: FlowData, what: "png" | "svg" | "csv"): Promise<string> {
  const name = fileName(data, "panels", what);
  const { from, to } = viewOf(data);
  if (what === "csv") {
    const packets = data.packetsIn(Math.max(from, data.from), Math.min(to, data.to));
    if (packets === null) throw new Error("this view holds no single packets: zoom in, then save them");
    save(name, csvOf(packets, from, to), "text/csv");
    return name;
  }
  const box = document.querySelector(".panels");
  const picture: Picture = {
    width: box?.clientWidth ?? 1000,
    height: box?.clientHeight ?? 700,
    draw: (surface) => void drawStack(surface, palette.value, data, wishOf({ data, shift: 0 })),
  };
  const title = `${data.detail.row.sender} to ${data.detail.row.receiver}, ${from.toFixed(3)} to ${to.toFixed(3)} s`;
  await savePicture(picture, what, name, title, palette.value);
  return name;
}
