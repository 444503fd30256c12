/** Files: a picture of what is on the screen, and as CSV what is selected. */

import { csvOf } from "../export/csv";
import { fileName, type Picture, save, savePicture } from "../export/write";
import type { FlowData } from "../data/flow";
import { Part } from "../draw/part";
import { drawStack } from "../panels/stack";
import { announced, failed, failure, other, palette, selection, selectionWords, store, viewOf } from "../view/app";
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

function one(data: FlowData, box: HTMLElement | undefined): Picture {
  return {
    width: box?.clientWidth ?? 1000,
    height: box?.clientHeight ?? 700,
    draw: (surface) => void drawStack(surface, palette.value, data, wishOf({ data, clock: SAME })),
  };
}

/** For the name above each of two. */
const NAMED = 24;

/** What stands side by side, or one below the other, as it does on the screen. */
function both(data: FlowData, beside: NonNullable<typeof other.value>, boxes: HTMLElement[]): Picture {
  const [first, second] = boxes.map((box) => box.getBoundingClientRect());
  const below = second.top > first.top + first.height / 2;
  const [dx, dy] = below ? [0, first.height + NAMED] : [second.left - first.left, 0];
  const parts = [
    { label: data.source.label, subject: { data, clock: SAME }, x: 0, y: 0, box: first },
    { label: beside.label, subject: { data: beside.data, clock: beside.clock }, x: dx, y: dy, box: second },
  ];
  return {
    width: dx + second.width,
    height: dy + second.height + NAMED,
    draw: (surface) => {
      surface.rect(0, 0, surface.width, surface.height, palette.value.background);
      for (const { label, subject, x, y, box } of parts) {
        surface.text(x + 8, y + NAMED / 2, label, { colour: palette.value.ink, bold: true });
        drawStack(new Part(surface, x, y + NAMED, box.width, box.height), palette.value, subject.data, wishOf(subject));
      }
    },
  };
}

async function savePanels(data: FlowData, what: "png" | "svg"): Promise<string> {
  const name = fileName(data, "panels", what);
  const { from, to } = viewOf(data);
  const boxes = [...document.querySelectorAll<HTMLElement>(".panels")];
  const beside = other.peek();
  const picture = beside !== null && boxes.length > 1 ? both(data, beside, boxes) : one(data, boxes[0]);
  const title = `${data.detail.row.sender} to ${data.detail.row.receiver}, ${from.toFixed(3)} to ${to.toFixed(3)} s`;
  await savePicture(picture, what, name, title, palette.value);
  return name;
}
