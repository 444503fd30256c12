/** What all flows between the same two hosts carry, one upon the other, beside what their path carries. */

import type { Detail, Source } from "../data/meta";
import { tickStep } from "../draw/scale";
import { rate, seconds } from "../draw/units";
import type { Panel, Scene } from "./scene";

/** A step of time is at least this wide, pixels. */
const WIDE = 6;
/** So many flows have an area of their own; those that carry less are one. */
const APART = 8;

export const path: Panel = {
  key: "path",
  title: (scene) => {
    const { together, all } = flowsOf(scene.data.source, scene.data.detail);
    const flows = together.length < all ? `${together.length} of ${all} flows` : `all ${all} flows`;
    const each = `${flows} of the path, each ${seconds(stepOf(scene, together))}`;
    return scene.columns < 420 ? each : `${each}: this one (green), others (grey)${carriesWords(scene)}`;
  },
  weight: 1.2,
  unit: "bps",
  wanted: ({ data }) => flowsOf(data.source, data.detail).together.length > 1,
  range(scene) {
    const { sums } = layersIn(scene);
    const high = Math.max(0, carries(scene) ?? 0, ...(sums[sums.length - 1] ?? []));
    return high > 0 ? { low: 0, high: high * 1.08 } : null;
  },
  draw(scene, y, box) {
    const { start, step, sums } = layersIn(scene);
    const { palette } = scene;
    const greys = palette.dark ? ["#4a5058", "#6a727c"] : ["#c4c6c9", "#9da1a6"];
    const edge = (k: number): number => Math.round(scene.x(start + k * step));
    const height = (value: number): number => Math.round(y(value));
    for (const [layer, values] of sums.entries()) {
      const below = layer > 0 ? sums[layer - 1] : null;
      const flat = values.flatMap((value, k) => {
        const floor = below === null ? box.y + box.h : height(below[k]);
        const top = height(value);
        return floor > top ? [edge(k), top, edge(k + 1) - edge(k), floor - top] : [];
      });
      scene.s.rects(flat, layer === 0 ? palette.ack : greys[layer % 2]);
    }
    const most = carries(scene);
    if (most === null) return;
    const at = Math.round(y(most)) + 0.5;
    scene.s.line(box.x, at, box.x + box.w, at, palette.lost, 1, scene.data.detail.row.path?.at_least ? [4, 3] : undefined);
  },
};

/** What the path of the flow carries, bits per second; null: not known. */
function carries(scene: Scene): number | null {
  return scene.data.detail.row.path?.capacity_bps ?? null;
}

function carriesWords(scene: Scene): string {
  const most = carries(scene);
  if (most === null) return "";
  return `; line: the path carries ${scene.data.detail.row.path?.at_least ? "at least " : ""}${rate(most)}`;
}

interface Flows {
  /** This flow first, then the others by what they carry. */
  together: Detail[];
  /** How many flows there are between the two hosts, this way; of some the page may hold no intervals. */
  all: number;
}

const known = new WeakMap<Detail, { held: number; flows: Flows }>();

/** The flows of the source that go from the same host to the same host as this one. */
export function flowsOf(source: Source, detail: Detail): Flows {
  const before = known.get(detail);
  if (before?.held === source.details.length) return before.flows;
  const way = wayOf(detail.row.sender, detail.row.receiver);
  const { sender, receiver } = source.flows.columns;
  const together = source.details.filter(
    ({ flow, row, intervals }) => flow !== detail.flow && wayOf(row.sender, row.receiver) === way && (intervals.length_s ?? 0) > 0,
  );
  together.sort((a, b) => b.row.bytes - a.row.bytes);
  const flows = {
    together: (detail.intervals.length_s ?? 0) > 0 ? [detail, ...together] : [],
    all: Math.max(together.length + 1, sender.filter((one, k) => wayOf(one, receiver[k]) === way).length),
  };
  known.set(detail, { held: source.details.length, flows });
  return flows;
}

/** Both hosts, without their ports. */
function wayOf(sender: string, receiver: string): string {
  const host = (end: string): string => end.replace(/:\d+( |$)/, "$1");
  return `${host(sender)} ${host(receiver)}`;
}

function stepOf(scene: Scene, flows: readonly Detail[]): number {
  const perPixel = (scene.to - scene.from) / Math.max(1, scene.columns);
  // Within an interval it is not known when its bytes came.
  const coarsest = Math.max(...flows.map(({ intervals }) => intervals.length_s ?? 0));
  return tickStep(0, Math.max(WIDE * perPixel, coarsest), 1);
}

interface Layers {
  start: number;
  step: number;
  sums: number[][];
}

function layersIn(scene: Scene): Layers {
  const { together } = flowsOf(scene.data.source, scene.data.detail);
  if (together.length === 0) return { start: scene.from, step: 1, sums: [] };
  const step = stepOf(scene, together);
  const start = Math.floor(scene.from / step) * step;
  const count = Math.max(1, Math.ceil((scene.to - start) / step));
  return { start, step, sums: layersOf(together, start, step, count) };
}

/** Bits per second in each step of each flow and those before it; the flows beyond some are one. */
export function layersOf(flows: readonly Detail[], start: number, step: number, count: number): number[][] {
  const sums: number[][] = [];
  let below = new Array<number>(count).fill(0);
  for (const [k, { intervals }] of flows.entries()) {
    const rates = ratesOf(intervals, start, step, count);
    below = below.map((value, at) => value + rates[at]);
    if (k < APART) sums.push(below);
    else sums[APART - 1] = below;
  }
  return sums;
}

function ratesOf({ start_ns, acked_bytes, new_bytes, length_s }: Detail["intervals"], start: number, step: number, count: number): number[] {
  const found = new Array<number>(count).fill(0);
  const long = length_s ?? 0;
  // Where no ACK is seen, what was sent for the first time.
  const bytes = acked_bytes.some((n) => n > 0) ? acked_bytes : new_bytes;
  for (const [k, at] of start_ns.entries()) {
    const from = (at / 1e9 - start) / step;
    const to = from + long / step;
    // An interval counts in each step as much as it lies in it.
    for (let one = Math.max(0, Math.floor(from)); one < Math.min(count, to); one++) {
      const share = (Math.min(to, one + 1) - Math.max(from, one)) / (to - from);
      found[one] += (8 * bytes[k] * share) / step;
    }
  }
  return found;
}
