/** Why nothing was sent: a strip of the idle gaps, by cause. */

import type { Panel } from "./scene";
import { HEIGHT, strip } from "./strip";

export const idle: Panel = {
  key: "idle",
  title: () => "",
  weight: 0,
  fixed: () => HEIGHT,
  wanted: ({ data }) => data.detail.idle.length > 0,
  range: () => null,
  draw(scene, _y, box) {
    const gaps = scene.data.detail.idle.map(({ start_ns, length_s, cause }) => ({
      from: start_ns / 1e9,
      to: start_ns / 1e9 + length_s,
      name: cause,
      words: scene.words("idle_cause", cause),
    }));
    strip(scene, box, "idle", "idle_cause", gaps);
  },
};
