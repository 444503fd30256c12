/** What was under way, beside the window where the sender's own host or a simulator told it. */

import { type Panel, type Scene, steps, within } from "./scene";
import type { Series } from "../data/series";

const PHASE_STRIP = 5;

export const flight: Panel = {
  key: "flight",
  title: (scene) => (scene.data.state === null ? "bytes in flight" : "flight, cwnd and ssthresh"),
  weight: 1.7,
  unit: "bytes",
  wanted: ({ data, track }) => (track?.flown.length ?? 0) > 0 || data.state !== null,
  range(scene) {
    let high = 0;
    for (const series of [scene.track?.flown, scene.data.state?.cwnd]) {
      if (series) high = Math.max(high, series.range(...within(scene, series))?.[1] ?? 0);
    }
    return high > 0 ? { low: 0, high: high * 1.1 } : null;
  },
  draw(scene, y, box) {
    const { palette, data, track } = scene;
    const line = (series: Series | null | undefined, colour: string): void => {
      if (series) steps(scene, series, y, box, colour);
    };
    line(track?.flown, palette.soft);
    line(data.state?.ssthresh, palette.hues.purple);
    line(data.state?.cwnd, palette.blue);
    phases(scene, box.y);
  },
};

/** The phases of congestion control along the upper edge. */
function phases(scene: Scene, top: number): void {
  const { palette } = scene;
  for (const phase of scene.data.state?.phases ?? []) {
    const colour = phaseColour(scene, phase.name);
    if (colour === null || phase.to < scene.from || phase.from > scene.to) continue;
    const left = scene.x(Math.max(phase.from, scene.from));
    const right = scene.x(Math.min(phase.to, scene.to));
    scene.s.rect(left, top, Math.max(1, right - left), PHASE_STRIP, colour);
    if (scene.s.textWidth(phase.name, 9.5) + 6 < right - left) {
      scene.s.text(left + 3, top + PHASE_STRIP + 7, phase.name, { colour: palette.soft, size: 9.5 });
    }
  }
}

function phaseColour(scene: Scene, name: string): string | null {
  if (/slow.?start/i.test(name)) return scene.palette.hues.sky;
  if (/recovery|cwr|disorder/i.test(name)) return scene.palette.hues.blue;
  if (/loss|timeout/i.test(name)) return scene.palette.hues.red;
  return null;
}
