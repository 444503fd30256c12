/** Two fingers on the panels: apart and together zoom, both one way move. */

import type { Box } from "../panels/scene";
import type { View } from "./app";

type Point = [number, number];

export interface Pinch {
  /** Where the fingers were when the second one came, and what was in view. */
  a: Point;
  b: Point;
  view: View;
}

/** Nearer together than this fingers say nothing of how far apart they are, pixels. */
const LEAST = 16;

/** The view in which what was between the fingers is between them again. */
export function pinched({ a, b, view }: Pinch, nowA: Point, nowB: Point, plot: Box): View {
  const apart = (p: Point, q: Point): number => Math.max(LEAST, Math.hypot(q[0] - p[0], q[1] - p[1]));
  const share = (p: Point, q: Point): number => ((p[0] + q[0]) / 2 - plot.x) / plot.w;
  const span = ((view.to - view.from) * apart(a, b)) / apart(nowA, nowB);
  const fixed = view.from + (view.to - view.from) * share(a, b);
  const from = fixed - span * share(nowA, nowB);
  return { from, to: from + span };
}
