import { describe, expect, it } from "vitest";
import { setLooks } from "../src/data/looks";
import type { Burst, Episode } from "../src/data/meta";
import { layoutOf } from "../src/ladder/layout";
import { labelOf, remarkOf, silencesOf, stepsOf, windowOf } from "../src/ladder/steps";
import { packetsOf, type Told, WORDS } from "./packets";

const EPISODE = { number: 0, start_ns: 0, end_ns: 400e6, lost_acks: null } as Episode;
const AROUND = { mss: 100, quiet: 0.02, holes: false };

function run(from: number, n: number, at: number, more: Partial<Told> = {}): Told[] {
  return Array.from({ length: n }, (_, k) => ({ at: at + k, data: [from + k, from + k + 1], ...more }));
}

const steps = (story: Told[], unfolded: number[] = [], around = AROUND, episode = EPISODE, bursts: Burst[] = []) => {
  const packets = packetsOf(story);
  return stepsOf(packets, [0, packets.n], episode, bursts, around, new Set(unfolded));
};

describe("a narrow ladder", () => {
  it("has its labels above the arrows, line by line, with what is remarked below", () => {
    const story = [
      { at: 0, data: [0, 1] },
      { at: 1, data: [1, 2], cause: "recovery" },
      { at: 2, ack: 1, sack: [[5, 6], [3, 4]] },
    ] as Told[];
    const { spots, height, narrow } = layoutOf(steps(story), new Map(), "even", 0, false, 1, { room: 110, words: WORDS });
    expect(narrow).toBe(true);
    expect(spots.map(({ lines }) => lines.length)).toEqual([1, 2, 2]);
    expect(spots[1].lines).toEqual(["101:201(100)", "again: recovery"]);
    for (const { lines, label, leaves } of spots) expect(label + 6.5 * lines.length).toBeLessThanOrEqual(leaves);
    spots.slice(1).forEach(({ lines, label }, k) => expect(label - 6.5 * lines.length).toBeGreaterThanOrEqual(spots[k].lastArrives));
    expect(height).toBeGreaterThan(spots[2].lastArrives);
  });
});

describe("a ladder", () => {
  it("folds four alike packets and more, and lets them be unfolded", () => {
    const story = run(0, 6, 0);
    expect(steps(story).map(labelOf)).toEqual(["6 segments, 1:601"]);
    expect(steps(story, [0])).toHaveLength(6);
    expect(steps(run(0, 3, 0)).map(labelOf)).toEqual(["1:101(100)", "101:201(100)", "201:301(100)"]);
  });

  it("does not fold across a pause, nor what was lost with what was not", () => {
    expect(steps([...run(0, 4, 0), ...run(4, 4, 100)])).toHaveLength(2);
    const mixed = steps([...run(0, 4, 0), ...run(4, 4, 4, { lost: true })]);
    expect(mixed.map((step) => step.lost)).toEqual([false, true]);
  });

  it("leaves the first repair of a run alone: it is what an ACK or the timer set off", () => {
    const repairs = steps(run(0, 6, 0, { cause: "loss-state" }));
    expect(repairs.map(labelOf)).toEqual(["1:101(100)", "5 segments, 101:601"]);
    expect(remarkOf(repairs[0], WORDS)).toBe("again: loss-state");
  });

  it("spells SACK and DSACK out", () => {
    const [partial, duplicate, dsack] = steps([
      { at: 0, ack: 1, sack: [[2, 3], [5, 6]] },
      { at: 1, ack: 1, sack: [[2, 4]] },
      { at: 2, ack: 4, sack: [[1, 2], [5, 6]], dsack: true },
    ]);
    expect(labelOf(partial)).toBe("ack 101, SACK 201-301 501-601");
    expect(duplicate.kind).toBe("duplicate");
    expect(labelOf(dsack)).toBe("ack 401, DSACK 101-201, SACK 501-601");
  });

  it("says how many duplicate ACKs there were and how far SACK reached", () => {
    const story: Told[] = [{ at: 0, ack: 1 }, ...[3, 4, 5, 6].map((k): Told => ({ at: k, ack: 1, sack: [[2, k]] }))];
    expect(steps(story).map(labelOf)).toEqual(["ack 101", "4 duplicate ACKs, ack 101, SACK up to 601"]);
  });

  it("shows holes at a receiver, and ACKs that are known to have been lost", () => {
    const burst = { start_ns: 2e6, seq_start: 101, seq_end: 301, lost_segments: 2, episode: 0 } as Burst;
    const told = steps(run(0, 1, 0), [], { ...AROUND, holes: true }, EPISODE, [burst]);
    expect(told.map(labelOf)).toEqual(["1:101(100)", "2 segments missing, 101:301"]);
    const lost = { ...EPISODE, lost_acks: 3, first_repair_ns: 9e6 } as Episode;
    expect(steps([], [], AROUND, lost).map(labelOf)).toEqual(["3 ACKs lost on the way"]);
  });

  it("sums up the middle of a long one: what a timer sent and the first repair stay", () => {
    setLooks({ cause: { recovery: { colour: "blue", group: "ack" }, timeout: { colour: "red", group: "timer" } } });
    const story: Told[] = [];
    for (let k = 0; k < 100; k++) {
      const cause = k === 40 ? "recovery" : k === 60 ? "timeout" : undefined;
      story.push({ at: 100 * k, data: [k, k + 1], lost: k % 3 === 0, cause }, { at: 100 * k + 50, ack: k });
    }
    const found = steps(story);
    expect(found.length).toBeLessThanOrEqual(56);
    expect(found.filter((step) => step.kind === "repair").map((step) => step.cause)).toEqual(["recovery", "timeout"]);
    expect(found.reduce((sum, step) => sum + step.packets, 0)).toBe(200);
    const mixed = found.find((step) => step.kind === "mixed")!;
    expect(labelOf(mixed)).toMatch(/^\d+ new segments, \d+ lost segments$/);
    expect(steps(story, [mixed.rows[0]]).length).toBeGreaterThan(found.length);
  });

  it("knows the silences of the sender", () => {
    const found = steps([...run(0, 1, 0), ...run(1, 1, 300)]);
    expect([...silencesOf(found, 0.05).values()]).toEqual([0.3]);
  });

  it("takes a few packets before and after the episode", () => {
    expect(windowOf(packetsOf(run(0, 20, 0)), [5, 11], 2, 2)).toEqual([3, 13]);
  });

  it("stands to scale: as far down as later", () => {
    const found = steps([...run(0, 1, 0), ...run(1, 1, 10), ...run(2, 1, 30)]);
    const { spots } = layoutOf(found, new Map(), "time", 0.005, false, 1);
    const [a, b, c] = spots.map((spot) => spot.leaves);
    expect((c - b) / (b - a)).toBeCloseTo(2, 6);
    expect(spots[0].arrives - a).toBeCloseTo((b - a) / 2, 6);
  });
});
