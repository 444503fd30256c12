/** A strip along the time axis: parts of time, each in the colour of a value of a closed set. */

import { hueOf, inkOn } from "../draw/palette";
import type { Box, Scene } from "./scene";

/** In seconds. */
export interface Part {
  from: number;
  to: number;
  name: string;
  words: string;
}

export const HEIGHT = 15;

export function strip(scene: Scene, box: Box, label: string, set: string, parts: Iterable<Part>): void {
  const { s, palette } = scene;
  s.text(box.x - 6, box.y + box.h / 2, label, { colour: palette.soft, align: "right", size: 9.5 });
  s.rect(box.x, box.y, box.w, box.h, palette.grid);
  for (const { from, to, name, words } of parts) {
    if (to < scene.from || from > scene.to) continue;
    const left = scene.x(Math.max(from, scene.from));
    const wide = Math.max(1, scene.x(Math.min(to, scene.to)) - left);
    const fill = hueOf(palette, set, name);
    s.rect(left, box.y + 1, wide, box.h - 2, fill);
    if (s.textWidth(words, 9.5) + 8 < wide) {
      s.text(left + wide / 2, box.y + box.h / 2, words, { colour: inkOn(fill), align: "center", size: 9.5 });
    }
  }
}
