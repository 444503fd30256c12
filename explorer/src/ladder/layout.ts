/** Where each step of a ladder stands, evenly or to scale. */

import type { LadderScale } from "../view/place";
import { isFolded, labelOf, remarkOf, type Step } from "./steps";

const ROW = 21;
const FOLDED_ROW = 34;
const SILENCE_ROW = 26;
const TOP = 14;
/** Of a label above its arrow: a line of it, what is between it and the arrow, and the arrow's own room. */
export const LABEL_LINE = 13;
const ABOVE_ARROW = 5;
const ARROW_ROW = 16;
/** Lines of such a label; what is longer ends in an ellipsis. */
const MOST_LINES = 4;
/** Width of a digit, about. */
export const CHARACTER = 6.6;
/** To scale: the shortest pixel-per-second that keeps most labels apart, within these heights. */
const LEAST_HEIGHT = 640;
const MOST_HEIGHT = 24_000;

export interface Spot {
  step: Step;
  /** Of the first packet where it left, and where it arrived. */
  leaves: number;
  arrives: number;
  /** Of the last packet of a folded run. */
  lastLeaves: number;
  lastArrives: number;
  /** Where the middle of the label is. */
  label: number;
  /** The label and what is remarked, where these stand above the arrow; else empty. */
  lines: string[];
  /** Length of the silence above it, seconds. */
  silence: number | null;
}

export interface Layout {
  spots: Spot[];
  height: number;
  /** Characters of the longest label of each direction. */
  longest: { data: number; back: number };
  /** Whether labels stand above their arrows, between the hosts; else outside of them. */
  narrow: boolean;
}

/** How wide labels may be that stand above their arrows, pixels, and the causes in words. */
export interface Narrow {
  room: number;
  words: (cause: string) => string;
}

export function layoutOf(
  steps: readonly Step[],
  silences: ReadonlyMap<Step, number>,
  scale: LadderScale,
  oneWay: number,
  seenAtReceiver: boolean,
  zoom: number,
  narrow: Narrow | null = null,
): Layout {
  const lines = (step: Step): string[] => (narrow === null ? [] : linesOf(step, narrow));
  const placed = scale === "even" ? evenly(steps, silences, lines) : toScale(steps, silences, oneWay, seenAtReceiver, zoom, lines);
  const longest = (toReceiver: boolean): number =>
    Math.max(0, ...steps.filter((step) => step.toReceiver === toReceiver).map((step) => labelOf(step).length));
  return { ...placed, longest: { data: longest(true), back: longest(false) }, narrow: narrow !== null };
}

/** A label over as many lines as it needs, and below it what is remarked. */
function linesOf(step: Step, { room, words }: Narrow): string[] {
  const most = Math.max(12, Math.floor(room / CHARACTER));
  const lines: string[] = [];
  for (const word of `${isFolded(step) && step.rows.length > 1 ? "▸ " : ""}${labelOf(step)}`.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  if (lines.length > MOST_LINES) lines.splice(MOST_LINES - 1, Infinity, `${lines[MOST_LINES - 1]} …`);
  const remark = remarkOf(step, words);
  return step.toReceiver && remark !== "" ? [...lines, remark] : lines;
}

type Placed = Omit<Layout, "longest" | "narrow">;
type LinesOf = (step: Step) => string[];

function evenly(steps: readonly Step[], silences: ReadonlyMap<Step, number>, linesOf: LinesOf): Placed {
  let y = TOP;
  const spots = steps.map((step): Spot => {
    const silence = silences.get(step) ?? null;
    if (silence !== null) y += SILENCE_ROW;
    const lines = linesOf(step);
    const above = lines.length === 0 ? 0 : lines.length * LABEL_LINE + ABOVE_ARROW;
    const high = above + (isFolded(step) ? FOLDED_ROW : above > 0 ? ARROW_ROW : ROW);
    const slant = 7;
    const first = y + above + (above > 0 ? 0 : 4);
    const last = y + high - slant - 4;
    const spot: Spot = {
      step,
      leaves: first,
      arrives: first + slant,
      lastLeaves: isFolded(step) ? last : first,
      lastArrives: (isFolded(step) ? last : first) + slant,
      label: above > 0 ? y + above / 2 - 1 : y + high / 2,
      lines,
      silence,
    };
    y += high;
    return spot;
  });
  return { spots, height: y + TOP };
}

function toScale(
  steps: readonly Step[],
  silences: ReadonlyMap<Step, number>,
  oneWay: number,
  seenAtReceiver: boolean,
  zoom: number,
  linesOf: LinesOf,
): Placed {
  if (steps.length === 0) return { spots: [], height: LEAST_HEIGHT };
  const from = steps[0].first - oneWay;
  const to = Math.max(...steps.map((step) => step.last)) + oneWay;
  const height = Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, LEAST_HEIGHT * zoom));
  const perSecond = (height - 2 * TOP) / Math.max(1e-9, to - from);
  const y = (t: number): number => TOP + (t - from) * perSecond;
  const spots = steps.map((step): Spot => {
    // A packet is seen as it leaves on its own side, and as it arrives on the other.
    const seenLeaving = step.toReceiver !== seenAtReceiver;
    const before = seenLeaving ? 0 : -oneWay;
    const after = seenLeaving ? oneWay : 0;
    return {
      step,
      leaves: y(step.first + before),
      arrives: y(step.first + after),
      lastLeaves: y(step.last + before),
      lastArrives: y(step.last + after),
      label: (y(step.first) + y(step.last)) / 2,
      lines: linesOf(step),
      silence: silences.get(step) ?? null,
    };
  });
  return { spots, height };
}
