/** The few calls that figures are drawn with; a canvas and an SVG document both answer them. */

export type Marker = "cross" | "circle" | "diamond" | "square" | "up" | "down" | "plus" | "hexagon" | "ring";

export interface TextStyle {
  colour: string;
  size?: number;
  align?: "left" | "center" | "right";
  baseline?: "top" | "middle" | "alphabetic" | "bottom";
  bold?: boolean;
  mono?: boolean;
}

/** All lengths in CSS pixels. Lists of numbers are flat: x, y, x, y, … */
export interface Surface {
  readonly width: number;
  readonly height: number;
  rect(x: number, y: number, w: number, h: number, fill: string): void;
  /** Many rectangles of one colour: x, y, w, h, x, … */
  rects(flat: number[], fill: string): void;
  frame(x: number, y: number, w: number, h: number, stroke: string): void;
  hatch(x: number, y: number, w: number, h: number, stroke: string): void;
  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width?: number, dash?: number[]): void;
  polyline(flat: number[], stroke: string, width?: number, dash?: number[]): void;
  polygon(flat: number[], fill: string): void;
  /** edge: the colour around it; null for none, which is quicker for very many. */
  markers(shape: Marker, flat: number[], size: number, fill: string, edge: string | null): void;
  text(x: number, y: number, words: string, style: TextStyle): void;
  textWidth(words: string, size?: number): number;
  /** What `inside` draws is cut off at the box. */
  clip(x: number, y: number, w: number, h: number, inside: () => void): void;
}

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
export const MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
export const TEXT_SIZE = 11;

/** The outline of a marker of radius 1 around 0, 0; a cross and a ring are strokes and have none. */
export const OUTLINES: Partial<Record<Marker, number[]>> = {
  diamond: [0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0],
  square: [-0.95, -0.95, 0.95, -0.95, 0.95, 0.95, -0.95, 0.95],
  up: [0, -1.25, 1.15, 0.85, -1.15, 0.85],
  down: [0, 1.25, 1.15, -0.85, -1.15, -0.85],
  plus: [
    -0.42, -1.2, 0.42, -1.2, 0.42, -0.42, 1.2, -0.42, 1.2, 0.42, 0.42, 0.42, 0.42, 1.2, -0.42, 1.2, -0.42, 0.42,
    -1.2, 0.42, -1.2, -0.42, -0.42, -0.42,
  ],
  hexagon: [1.1, 0, 0.55, 0.95, -0.55, 0.95, -1.1, 0, -0.55, -0.95, 0.55, -0.95],
};
