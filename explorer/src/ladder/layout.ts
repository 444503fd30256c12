/** Where each step of a ladder stands, evenly or to scale. */

import type { LadderScale } from "../view/place";
import { isFolded, labelOf, type Step } from "./steps";

const ROW = 21;
const FOLDED_ROW = 34;
const SILENCE_ROW = 26;
const TOP = 14;
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
  /** Where the label stands. */
  label: number;
  /** Length of the silence above it, seconds. */
  silence: number | null;
}

export interface Layout {
  spots: Spot[];
  height: number;
  /** Characters of the longest label of each direction. */
  longest: { data: number; back: number };
}

export function layoutOf(
  steps: readonly Step[],
  silences: ReadonlyMap<Step, number>,
  scale: LadderScale,
  oneWay: number,
  seenAtReceiver: boolean,
  zoom: number,
): Layout {
  const placed = scale === "even" ? evenly(steps, silences) : toScale(steps, silences, oneWay, seenAtReceiver, zoom);
  const longest = (toReceiver: boolean): number =>
    Math.max(0, ...steps.filter((step) => step.toReceiver === toReceiver).map((step) => labelOf(step).length));
  return { ...placed, longest: { data: longest(true), back: longest(false) } };
}

type Placed = Omit<Layout, "longest">;

function evenly(steps: readonly Step[], silences: ReadonlyMap<Step, number>): Placed {
  let y = TOP;
  const spots = steps.map((step): Spot => {
    const silence = silences.get(step) ?? null;
    if (silence !== null) y += SILENCE_ROW;
    const high = isFolded(step) ? FOLDED_ROW : ROW;
    const slant = 7;
    const first = y + 4;
    const last = y + high - slant - 4;
    const spot: Spot = {
      step,
      leaves: first,
      arrives: first + slant,
      lastLeaves: isFolded(step) ? last : first,
      lastArrives: (isFolded(step) ? last : first) + slant,
      label: y + high / 2,
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
      silence: silences.get(step) ?? null,
    };
  });
  return { spots, height };
}
