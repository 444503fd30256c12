/** What happened in each column of pixels, one lane a kind: nothing is too small to be seen. */

import { namesOf } from "../data/looks";
import type { Series } from "../data/series";
import type { Track } from "../data/track";
import { hueOf } from "../draw/palette";
import { type Box, columnsIn, type Panel, type Scene, type Shown } from "./scene";

const LANE = 11;

export interface Lane {
  name: string;
  colour: (scene: Scene) => string;
  of: (track: Track) => Series | undefined;
}

function allLanes(): Lane[] {
  return [
    { name: "lost", colour: (s) => s.palette.lost, of: (p) => p.gone },
    ...namesOf("cause").map(
      (cause): Lane => ({
        name: cause,
        colour: (s) => hueOf(s.palette, "cause", cause),
        of: (p) => p.again.get(cause),
      }),
    ),
    { name: "needless", colour: (s) => s.palette.ink, of: (p) => p.inVain },
    { name: "SACK", colour: (s) => s.palette.hues.sky, of: (p) => p.sacked },
    { name: "DSACK", colour: (s) => s.palette.hues.purple, of: (p) => p.dsacks },
  ];
}

/** Those of what stands beside it as well: each stands at the same height on both sides. */
export function lanesOf({ track, beside }: Shown): Lane[] {
  const some = (lane: Lane, of: Track | null | undefined): boolean => !!of && (lane.of(of)?.length ?? 0) > 0;
  return allLanes().filter((lane) => some(lane, track) || some(lane, beside?.track));
}

export const lanes: Panel = {
  key: "events",
  title: () => "",
  weight: 0,
  fixed: (of) => lanesOf(of).length * LANE,
  wanted: (of) => lanesOf(of).length > 0,
  range: () => null,
  draw(scene, _y, box) {
    const { s, palette, track } = scene;
    lanesOf(scene).forEach((lane, k) => {
      const top = box.y + k * LANE;
      s.text(box.x - 6, top + LANE / 2, lane.name, { colour: palette.soft, align: "right", size: 9.5 });
      const series = track === null ? undefined : lane.of(track);
      if (series !== undefined) ticksOf(scene, series, box, top, lane.colour(scene));
      s.line(box.x, top + LANE - 0.5, box.x + box.w, top + LANE - 0.5, palette.grid);
    });
  },
};

function ticksOf(scene: Scene, series: Series, box: Box, top: number, colour: string): void {
  const { count } = columnsIn(scene, series);
  const flat: number[] = [];
  let open = -1;
  for (let c = 0; c < scene.columns; c++) {
    if (count[c] === 0) {
      // One alone is two pixels wide, or it would hardly be seen.
      if (open >= 0 && flat[open + 2] === 1) flat[open + 2] = 2;
      open = -1;
      continue;
    }
    // More in a column stand higher: 1 is a third, 8 and more the whole lane.
    const high = Math.round((LANE - 3) * Math.min(1, 0.4 + 0.2 * Math.log2(count[c])));
    if (open >= 0 && flat[open + 3] === high) flat[open + 2]++;
    else {
      open = flat.length;
      flat.push(box.x + c, top + LANE - 1 - high, 1, high);
    }
  }
  scene.s.rects(flat, colour);
}
