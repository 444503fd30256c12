/** Who owns each moment of the connection: a strip of the causes of its time, those of the answer. */

import type { Owners } from "../data/meta";
import { causeName } from "../data/causes";
import type { Panel } from "./scene";
import { HEIGHT, type Part, strip } from "./strip";

export const owner: Panel = {
  key: "owner",
  title: () => "",
  weight: 0,
  fixed: () => HEIGHT,
  wanted: ({ data }) => partsOf(data.detail.owners, (_, name) => name).length > 0,
  range: () => null,
  draw(scene, _y, box) {
    strip(scene, box, "cause", "answer_cause", partsOf(scene.data.detail.owners, scene.words));
  },
};

/** What took no time has no part. */
export function partsOf(owners: Owners | null | undefined, words: (set: string, name: string) => string): Part[] {
  if (!owners) return [];
  const { start_ns, end_ns, cause, by } = owners;
  return start_ns.flatMap((start, k) =>
    cause[k] === NOTHING
      ? []
      : [
          {
            from: start / 1e9,
            to: end_ns[k] / 1e9,
            name: cause[k],
            words: causeName({ cause: words("answer_cause", cause[k]), by: by[k] }),
          },
        ],
  );
}

/** The name of the cause where nothing took time. */
const NOTHING = "nothing";
