/** Why nothing was sent: a strip of the idle gaps, by cause. */

import { hueOf, inkOn } from "../draw/palette";
import type { Panel } from "./scene";

export const idle: Panel = {
  key: "idle",
  title: () => "",
  weight: 0,
  fixed: () => 15,
  wanted: ({ data }) => data.detail.idle.length > 0,
  range: () => null,
  draw(scene, _y, box) {
    const { s, palette } = scene;
    s.text(box.x - 6, box.y + box.h / 2, "idle", { colour: palette.soft, align: "right", size: 9.5 });
    s.rect(box.x, box.y, box.w, box.h, palette.grid);
    for (const gap of scene.data.detail.idle) {
      const from = gap.start_ns / 1e9;
      const to = from + gap.length_s;
      if (to < scene.from || from > scene.to) continue;
      const left = scene.x(Math.max(from, scene.from));
      const wide = Math.max(1, scene.x(Math.min(to, scene.to)) - left);
      const fill = hueOf(palette, "idle_cause", gap.cause);
      s.rect(left, box.y + 1, wide, box.h - 2, fill);
      const told = scene.words("idle_cause", gap.cause);
      if (s.textWidth(told, 9.5) + 8 < wide) {
        s.text(left + wide / 2, box.y + box.h / 2, told, { colour: inkOn(fill), align: "center", size: 9.5 });
      }
    }
  },
};
