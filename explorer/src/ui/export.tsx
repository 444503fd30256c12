/** Files: a picture of what is on the screen, and as CSV what is selected. */

import { csvOf } from "../export/csv";
import { fileName, type Picture, save, savePicture } from "../export/write";
import type { FlowData } from "../data/flow";
import { drawStack } from "../panels/stack";
import { announced, failed, failure, palette, selection, selectionWords, store, viewOf } from "../view/app";
import { wishOf } from "../view/board";
import { SAME } from "../view/clock";

export function ExportMenu({ data }: { data: FlowData }): preact.JSX.Element {
  return (
    <span class="switch" role="group" aria-label="Save what is on the screen">
      <button type="button" onClick={() => told(savePanels(data, "png"))}>
        PNG
      </button>
      <button type="button" onClick={() => told(savePanels(data, "svg"))}>
        SVG
      </button>
      <CsvButton data={data} />
    </span>
  );
}

/** Says what it is of. */
export function CsvButton({ data }: { data: FlowData }): preact.JSX.Element {
  return (
    <button type="button" onClick={() => told(saveCsv(data))}>
      CSV of {selectionWords}
    </button>
  );
}

function told(saved: Promise<string>): void {
  failure.value = null;
  saved.then((name) => (announced.value = `${name} saved`)).catch(failed);
}

async function saveCsv(data: FlowData): Promise<string> {
  const [from, of] = [store.peek(), selection.peek()];
  if (from === null || of === null) throw new Error("no flow is shown");
  const name = fileName(data, of.name, "csv");
  save(name, await csvOf(from, data, of), "text/csv");
  return name;
}

async function savePanels(data: FlowData, what: "png" | "svg"): Promise<string> {
  const name = fileName(data, "panels", what);
  const { from, to } = viewOf(data);
  const box = document.querySelector(".panels");
  const picture: Picture = {
    width: box?.clientWidth ?? 1000,
    height: box?.clientHeight ?? 700,
    draw: (surface) => void drawStack(surface, palette.value, data, wishOf({ data, clock: SAME })),
  };
  const title = `${data.detail.row.sender} to ${data.detail.row.receiver}, ${from.toFixed(3)} to ${to.toFixed(3)} s`;
  await savePicture(picture, what, name, title, palette.value);
  return name;
}
