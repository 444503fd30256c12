import { describe, expect, it } from "vitest";
import type { Episode } from "../src/data/meta";
import { LIGHT } from "../src/draw/palette";
import type { Surface } from "../src/draw/surface";
import { drawLadder, HEAD } from "../src/ladder/draw";
import { layoutOf } from "../src/ladder/layout";
import { silencesOf, stepsOf } from "../src/ladder/steps";
import { packetsOf, type Told, WORDS } from "./packets";

const EPISODE = { number: 0, start_ns: 0, end_ns: 400e6, lost_acks: null } as Episode;

/** What is written where. */
function written(story: Told[]): { x: number; y: number; words: string }[] {
  const packets = packetsOf(story);
  const steps = stepsOf(packets, [0, packets.n], EPISODE, [], { mss: 100, quiet: 0.02, holes: false }, new Set());
  const layout = layoutOf(steps, silencesOf(steps, 1), "time", 0.01, false, 1);
  const texts: { x: number; y: number; words: string }[] = [];
  const nothing = (): void => undefined;
  const surface: Surface = {
    width: 900, height: 4000, rect: nothing, rects: nothing, frame: nothing, hatch: nothing, line: nothing, polyline: nothing,
    polygon: nothing, markers: nothing, text: (x, y, words) => void texts.push({ x, y, words }),
    textWidth: (words) => 6 * words.length, clip: (_x, _y, _w, _h, inside) => inside(),
  };
  const look = { sender: "a", receiver: "b", offset: 0, selected: null, proves: new Set<never>(), words: WORDS };
  drawLadder(surface, LIGHT, layout, look);
  return texts.filter(({ y }) => y > HEAD);
}

describe("labels of a ladder to scale", () => {
  it("do not cover each other; what was lost comes before what was acknowledged", () => {
    // Seven lost segments leave while seven ACKs come in: their words belong to the same place on the right.
    const story = [0, 1, 2, 3, 4, 5, 6].flatMap((k): Told[] => [
      { at: 10 * k, ack: k },
      { at: 10 * k, data: [20 + k, 21 + k], lost: true },
    ]);
    const texts = written(story);
    const right = texts.filter(({ x }) => x > 450);
    expect(right.map(({ words }) => words)).toContain("lost");
    for (const [k, one] of right.entries()) {
      for (const other of right.slice(k + 1)) expect(Math.abs(one.y - other.y)).toBeGreaterThanOrEqual(13);
    }
  });
});
