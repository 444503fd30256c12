import { describe, expect, it } from "vitest";
import { pinched } from "../src/view/pinch";

const PLOT = { x: 100, y: 0, w: 1000, h: 400 };
const VIEW = { from: 10, to: 20 };
/** Seconds under a pixel. */
const at = (view: { from: number; to: number }, x: number): number => view.from + ((view.to - view.from) * (x - PLOT.x)) / PLOT.w;

describe("two fingers", () => {
  it("keep what is between them between them, and show half when twice as far apart", () => {
    const view = pinched({ a: [400, 50], b: [600, 50], view: VIEW }, [300, 50], [700, 50], PLOT);
    expect(view.to - view.from).toBeCloseTo(5, 9);
    expect(at(view, 500)).toBeCloseTo(at(VIEW, 500), 9);
    expect(at(view, 300)).toBeCloseTo(at(VIEW, 400), 9);
  });

  it("move the view with them", () => {
    const view = pinched({ a: [400, 50], b: [600, 90], view: VIEW }, [450, 50], [650, 90], PLOT);
    expect(view.to - view.from).toBeCloseTo(10, 9);
    expect(view.from).toBeCloseTo(9.5, 9);
  });

  it("say nothing absurd when they touch", () => {
    const view = pinched({ a: [400, 50], b: [600, 50], view: VIEW }, [500, 50], [500, 50], PLOT);
    expect(view.to - view.from).toBeCloseTo(125, 9);
  });
});
