/** Files: a picture of what is on the screen, and as CSV what is selected. */

import { csvOf } from "../export/csv";
import { fileName, type Picture, save, savePicture } from "../export/write";
import type { FlowData } from "../data/flow";
import { Part } from "../draw/part";
import { drawStack } from "../panels/stack";
import { announced, failed, failure, named, other, palette, selection, selectionWords, store, type Subject, viewOf } from "../view/app";
import { wishOf } from "../view/board";

export function ExportMenu({ data }: { data: FlowData }): preact.JSX.Element {
  return (
    <span class="switch" role="group" aria-label="Save what is on the screen">
      <button type="button" onClick={() => told(savePanels(data, "png"))}>
        PNG
      </button>
      <button type="button" onClick={() => told(savePanels(data, "svg"))}>
        SVG
      </button>
      <CsvButton />
    </span>
  );
}

/** Says what it is of. */
export function CsvButton(): preact.JSX.Element {
  return (
    <button type="button" onClick={() => told(saveCsv())}>
      CSV of {selectionWords}
    </button>
  );
}

function told(saved: Promise<string>): void {
  failure.value = null;
  saved.then((name) => (announced.value = `${name} saved`)).catch(failed);
}

async function saveCsv(): Promise<string> {
  const [from, of] = [store.peek(), selection.peek()];
  if (from === null || of === null) throw new Error("no flow is shown");
  const name = fileName(of.data, of.name, "csv");
  save(name, await csvOf(from, of), "text/csv");
  return name;
}

function one(of: Subject, box: HTMLElement | undefined): Picture {
  return {
    width: box?.clientWidth ?? 1000,
    height: box?.clientHeight ?? 700,
    draw: (surface) => void drawStack(surface, palette.value, of.data, wishOf(of)),
  };
}

/** For the name above each of two. */
const NAMED = 24;

/** What stands side by side, or one below the other, as it does on the screen. */
function both(subjects: Subject[], boxes: HTMLElement[]): Picture {
  const [first, second] = boxes.map((box) => box.getBoundingClientRect());
  const below = second.top > first.top + first.height / 2;
  const [dx, dy] = below ? [0, first.height + NAMED] : [second.left - first.left, 0];
  const parts = subjects.map((subject, k) => (k === 0 ? { subject, x: 0, y: 0, box: first } : { subject, x: dx, y: dy, box: second }));
  return {
    width: dx + second.width,
    height: dy + second.height + NAMED,
    draw: (surface) => {
      surface.rect(0, 0, surface.width, surface.height, palette.value.background);
      for (const { subject, x, y, box } of parts) {
        surface.text(x + 8, y + NAMED / 2, subject.label, { colour: palette.value.ink, bold: true });
        drawStack(new Part(surface, x, y + NAMED, box.width, box.height), palette.value, subject.data, wishOf(subject));
      }
    },
  };
}

async function savePanels(data: FlowData, what: "png" | "svg"): Promise<string> {
  const name = fileName(data, "panels", what);
  const { from, to } = viewOf(data);
  const boxes = [...document.querySelectorAll<HTMLElement>(".panels")];
  const [shown, beside] = [named.peek(), other.peek()];
  if (shown === null) throw new Error("no flow is shown");
  const picture = beside !== null && boxes.length > 1 ? both([shown, beside], boxes) : one(shown, boxes[0]);
  const title = `${data.detail.row.sender} to ${data.detail.row.receiver}, ${from.toFixed(3)} to ${to.toFixed(3)} s`;
  await savePicture(picture, what, name, title, palette.value);
  return name;
}
