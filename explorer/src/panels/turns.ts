/** Who speaks: a lane for the messages of each host, with the time that its program took before each, and one between them for
 * the time in which packets were under way. */

import type { Turn } from "../data/turns";
import { hueOf, type Palette } from "../draw/palette";
import type { Box, Panel, Scene } from "./scene";

const LANE = 11;
/** What a column of pixels holds is at least this high. */
const LEAST = 2;

/** The lanes from the top. */
export const LANES = ["client", "path", "server"] as const;

export const turns: Panel = {
  key: "turns",
  title: () => "",
  weight: 0,
  fixed: () => LANES.length * LANE,
  wanted: ({ data }) => data.turns.length > 0,
  range: () => null,
  draw(scene, _y, box) {
    const { s, palette } = scene;
    const found = columnsOfTurns(scene.data.turns, scene.from, scene.step, scene.columns);
    LANES.forEach((lane, k) => {
      const base = box.y + (k + 1) * LANE - 1;
      s.text(box.x - 6, base - LANE / 2 + 1, lane, { colour: palette.soft, align: "right", size: 9.5 });
      if (lane === "path") bars(scene, found.path, box, base, pathColour(palette));
      else {
        bars(scene, found.program[lane], box, base, programColour(palette));
        bars(scene, found.message[lane], box, base, palette.ink);
      }
      s.line(box.x, base + 0.5, box.x + box.w, base + 0.5, palette.grid);
    });
  },
};

/** The time of both is that of these causes of the answer. */
export function programColour(palette: Palette): string {
  return hueOf(palette, "answer_cause", "sender-idle");
}

export function pathColour(palette: Palette): string {
  return hueOf(palette, "answer_cause", "request-response");
}

interface Columns {
  /** Which part of each column's time, 0 to 1; below 0: nothing of it. */
  path: Float64Array;
  program: Record<string, Float64Array>;
  message: Record<string, Float64Array>;
}

/** What the columns of pixels hold, of which column c begins at `from` + c `step`. A message without
 * another one in its column or beside it fills it, however short it is; else each part has its share of the time. */
export function columnsOfTurns(turns: readonly Turn[], from: number, step: number, columns: number): Columns {
  const none = (): Float64Array => new Float64Array(columns).fill(-1);
  const each = (): Record<string, Float64Array> => ({ client: none(), server: none() });
  const found: Columns = { path: none(), program: each(), message: each() };
  // With a column more on either side.
  const begun: Record<string, Uint32Array> = { client: new Uint32Array(columns + 2), server: new Uint32Array(columns + 2) };
  const within = (c: number): number => Math.min(Math.max(c, 0), columns);
  const cover = (to: Float64Array | undefined, start: number, end: number): void => {
    if (to === undefined) return;
    const [low, high] = [(start - from) / step, (end - from) / step];
    if (high < 0 || low >= columns) return;
    for (let c = within(Math.floor(low)); c < within(Math.floor(high) + 1); c++) {
      to[c] = Math.max(0, to[c]) + Math.max(0, Math.min(high, c + 1) - Math.max(low, c));
    }
  };
  for (const { host, start, end, waited, program } of turns) {
    cover(found.message[host], start, end);
    const column = Math.floor((start - from) / step) + 1;
    if (column >= 0 && column < columns + 2 && begun[host] !== undefined) begun[host][column]++;
    if (waited === null) continue;
    if (waited > program) cover(found.path, start - waited, start - program);
    if (program > 0) cover(found.program[host], start - program, start);
  }
  for (const [host, counts] of Object.entries(begun)) {
    for (let c = 0; c < columns; c++) {
      if (counts[c] === 0 && counts[c + 1] === 1 && counts[c + 2] === 0) found.message[host][c] = 1;
    }
  }
  return found;
}

function bars(scene: Scene, shares: Float64Array, box: Box, base: number, colour: string): void {
  const flat: number[] = [];
  let open = -1;
  shares.forEach((share, c) => {
    if (share < 0) {
      open = -1;
      return;
    }
    const high = Math.max(LEAST, Math.round(Math.min(1, share) * (LANE - 2)));
    if (open >= 0 && flat[open + 3] === high) flat[open + 2]++;
    else {
      open = flat.length;
      flat.push(box.x + c, base - high, 1, high);
    }
  });
  scene.s.rects(flat, colour);
}
