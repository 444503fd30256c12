/** Payload bits per second: what was sent, what of it was new, what was newly acknowledged. */

import type { FlowData } from "../data/flow";
import type { Track } from "../data/track";
import { tickStep } from "../draw/scale";
import { seconds } from "../draw/units";
import { type Panel, type Scene, valueAt } from "./scene";

interface Rates {
  start: number;
  step: number;
  sent: number[];
  fresh: number[];
  acked: number[];
}

/** An interval is at least this wide, pixels. */
const WIDE = 6;

export const rates: Panel = {
  key: "throughput",
  title: (scene) => {
    const each = `throughput, each ${seconds(stepOf(scene))}`;
    return scene.columns < 420 ? each : `${each}: sent (grey), new (line), acknowledged (green)`;
  },
  weight: 1.5,
  unit: "bps",
  wanted: ({ data, track }) => track !== null || data.detail.intervals.start_ns.length > 0,
  range(scene) {
    const found = ratesIn(scene);
    const high = Math.max(0, ...found.sent, ...found.acked);
    return high > 0 ? { low: 0, high: high * 1.08 } : null;
  },
  draw(scene, y, box) {
    const found = ratesIn(scene);
    const { palette } = scene;
    const floor = box.y + box.h;
    const edge = (k: number): number => Math.round(scene.x(found.start + k * found.step));
    const height = (value: number): number => Math.round(y(value));
    const areas = (values: number[]): number[] =>
      values.flatMap((value, k) => [edge(k), height(value), edge(k + 1) - edge(k), floor - height(value)]);
    // Of rectangles on whole pixels, which are drawn many times as fast as a path.
    const outline = (values: number[]): number[] =>
      values.flatMap((value, k) => {
        const at = height(value);
        const before = k > 0 ? height(values[k - 1]) : at;
        return [edge(k), at, edge(k + 1) - edge(k), 1, edge(k), Math.min(at, before), 1, Math.abs(at - before) + 1];
      });
    scene.s.rects(areas(found.sent), palette.dark ? "#4a5058" : "#c4c6c9");
    scene.s.rects(areas(found.fresh), palette.dark ? "#2c3138" : "#e8e9ea");
    scene.s.rects(outline(found.fresh), palette.soft);
    scene.s.rects(outline(found.acked), palette.ack);
  },
};

/** What was newly acknowledged in each interval of the view, bits per second. */
export function ackedRates(scene: Scene): { start: number; step: number; values: number[] } {
  const { start, step, acked } = ratesIn(scene);
  return { start, step, values: acked };
}

function stepOf(scene: Scene): number {
  const perPixel = (scene.to - scene.from) / Math.max(1, scene.columns);
  if (scene.track === null) {
    return scene.data.detail.intervals.length_s ?? scene.data.seconds;
  }
  // Below a round trip the bursts of a window are what one sees, not a rate.
  const rtt = (scene.data.detail.row.rtt["ack"]?.min_ms ?? 0) / 1e3;
  return tickStep(0, Math.max(WIDE * perPixel, Math.min(rtt, 0.1), 2 * scene.track.grain), 1);
}

function ratesIn(scene: Scene): Rates {
  return scene.track === null ? ofIntervals(scene.data) : ofTrack(scene, scene.track);
}

function ofTrack(scene: Scene, track: Track): Rates {
  const step = stepOf(scene);
  const start = Math.floor(scene.from / step) * step;
  const found: Rates = { start, step, sent: [], fresh: [], acked: [] };
  let sent = track.sentBytes.before(start);
  let fresh = track.freshBytes.before(start);
  let acked = Math.max(0, valueAt(track.acked, start) ?? 0);
  const end = Math.min(scene.to, scene.data.to);
  for (let k = 1; start + (k - 1) * step < end; k++) {
    const at = start + k * step;
    const now = [track.sentBytes.before(at), track.freshBytes.before(at), Math.max(acked, valueAt(track.acked, at) ?? 0)];
    found.sent.push((8 * (now[0] - sent)) / step);
    found.fresh.push((8 * (now[1] - fresh)) / step);
    found.acked.push((8 * (now[2] - acked)) / step);
    [sent, fresh, acked] = now;
  }
  return found;
}

function ofIntervals(data: FlowData): Rates {
  const { intervals } = data.detail;
  const step = intervals.length_s ?? data.seconds;
  const of = (bytes: number[]): number[] => bytes.map((n) => (8 * n) / step);
  return {
    start: (intervals.start_ns[0] ?? 0) / 1e9,
    step,
    sent: of(intervals.sent_bytes),
    fresh: of(intervals.new_bytes),
    acked: of(intervals.acked_bytes),
  };
}
