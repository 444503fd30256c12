/** Payload bits per second: what was sent, what of it was new, what was newly acknowledged. */

import type { FlowData } from "../data/flow";
import type { Packets } from "../data/packets";
import { tickStep } from "../draw/scale";
import { seconds } from "../draw/units";
import { type Panel, type Scene, valueAt } from "./scene";

interface Sums {
  sent: Float64Array;
  fresh: Float64Array;
}

interface Rates {
  start: number;
  step: number;
  sent: number[];
  fresh: number[];
  acked: number[];
}

const SUMS = new WeakMap<Packets, Sums>();
/** An interval is at least this wide, pixels. */
const WIDE = 6;

export const rates: Panel = {
  key: "throughput",
  title: (scene) => `throughput, each ${seconds(stepOf(scene))}`,
  weight: 1.5,
  unit: "bps",
  wanted: (data) => data.packets !== null || data.detail.intervals.start_ns.length > 0,
  range(scene) {
    const found = ratesIn(scene);
    const high = Math.max(0, ...found.sent, ...found.acked);
    return high > 0 ? { low: 0, high: high * 1.08 } : null;
  },
  draw(scene, y, box) {
    const found = ratesIn(scene);
    const { palette } = scene;
    const outline = (values: number[]): number[] => {
      const flat: number[] = [];
      values.forEach((value, k) => {
        const left = scene.x(found.start + k * found.step);
        flat.push(left, y(value), scene.x(found.start + (k + 1) * found.step), y(value));
      });
      return flat;
    };
    const sent = outline(found.sent);
    if (sent.length === 0) return;
    const floor = box.y + box.h;
    scene.s.polygon([sent[0], floor, ...sent, sent[sent.length - 2], floor], palette.dark ? "#4a5058" : "#c4c6c9");
    const fresh = outline(found.fresh);
    scene.s.polygon([fresh[0], floor, ...fresh, fresh[fresh.length - 2], floor], palette.dark ? "#2c3138" : "#e8e9ea");
    scene.s.polyline(fresh, palette.soft, 1);
    scene.s.polyline(outline(found.acked), palette.ack, 1.2);
  },
};

function stepOf(scene: Scene): number {
  const perPixel = (scene.to - scene.from) / Math.max(1, scene.columns);
  if (scene.data.packets === null) {
    return scene.data.detail.intervals.length_s ?? scene.data.seconds;
  }
  // Below a round trip the bursts of a window are what one sees, not a rate.
  const rtt = (scene.data.detail.row.rtt["ack"]?.min_ms ?? 0) / 1e3;
  return tickStep(0, Math.max(WIDE * perPixel, Math.min(rtt, 0.1)), 1);
}

function ratesIn(scene: Scene): Rates {
  const { packets } = scene.data;
  return packets === null ? ofIntervals(scene.data) : ofPackets(scene, packets);
}

function ofPackets(scene: Scene, packets: Packets): Rates {
  const step = stepOf(scene);
  const sums = sumsOf(packets);
  const start = Math.floor(scene.from / step) * step;
  const found: Rates = { start, step, sent: [], fresh: [], acked: [] };
  let a = packets.from(start);
  let acked = Math.max(0, valueAt(packets.acked, start) ?? 0);
  const end = Math.min(scene.to, scene.data.to);
  for (let k = 1; start + (k - 1) * step < end; k++) {
    const z = packets.from(start + k * step);
    const now = Math.max(acked, valueAt(packets.acked, start + k * step) ?? 0);
    found.sent.push((8 * (sums.sent[z] - sums.sent[a])) / step);
    found.fresh.push((8 * (sums.fresh[z] - sums.fresh[a])) / step);
    found.acked.push((8 * (now - acked)) / step);
    a = z;
    acked = now;
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

/** Bytes sent before each packet, so that any interval's are a difference. */
function sumsOf(packets: Packets): Sums {
  let found = SUMS.get(packets);
  if (found === undefined) {
    found = { sent: new Float64Array(packets.n + 1), fresh: new Float64Array(packets.n + 1) };
    for (let i = 0; i < packets.n; i++) {
      const bytes = packets.data[i] === 1 ? packets.len[i] : 0;
      found.sent[i + 1] = found.sent[i] + bytes;
      found.fresh[i + 1] = found.fresh[i] + (packets.cause[i] === 0 ? bytes : 0);
    }
    SUMS.set(packets, found);
  }
  return found;
}
