/** Round-trip times: one that rises before a loss is a queue that fills. */

import type { Rtt } from "../data/flow";
import { bars, type Panel, type Scene, within } from "./scene";

const DOTS = 2500;

export const rtt: Panel = {
  key: "rtt",
  title: () => "round-trip time, the least dashed",
  weight: 1.5,
  unit: "s",
  wanted: ({ data, track }) => data.rtts.length > 0 || (track !== null && (track.rtt ?? data.rttBeside(track)) !== null),
  range(scene) {
    let high = 0;
    for (const { series } of shown(scene)) high = Math.max(high, series.range(...within(scene, series))?.[1] ?? 0);
    return high > 0 ? { low: 0, high: high * 1.08 } : null;
  },
  draw(scene, y, box) {
    const { s, palette } = scene;
    for (const { kind, series } of shown(scene)) {
      const colour = kind === "ack" ? palette.ink : palette.hues.sky;
      const [a, z] = within(scene, series);
      if (z - a > DOTS) {
        bars(scene, series, y, box, colour);
        continue;
      }
      const flat: number[] = [];
      for (let i = a; i < z; i++) flat.push(scene.x(series.x[i]) - 0.9, y(series.lo[i]) - 0.9, 1.8, 1.8);
      s.rects(flat, colour);
    }
    const least = (scene.data.detail.row.rtt["ack"]?.min_ms ?? 0) / 1e3;
    if (least > 0) s.line(box.x, y(least), box.x + box.w, y(least), palette.ack, 1, [4, 3]);
  },
};

/** Timestamps below, and only where ACKs tell nothing: they say the same, less exactly. */
function shown(scene: Scene): Rtt[] {
  const { track } = scene;
  if (scene.data.rtts.length === 0 && track !== null) {
    const series = track.rtt ?? scene.data.rttBeside(track);
    return series === null ? [] : [{ kind: "ack", series }];
  }
  const ack = scene.data.rtts.filter((r) => r.kind === "ack");
  return ack.length > 0 ? ack : scene.data.rtts;
}
