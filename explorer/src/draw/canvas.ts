/** A Surface on a canvas. */

import { FONT, type Marker, MONO, OUTLINES, type Surface, TEXT_SIZE, type TextStyle } from "./surface";

/** Widths of texts, which are asked for in every frame. */
const widths = new Map<string, number>();

export function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("this browser draws no 2D canvas");
  return context;
}

export class CanvasSurface implements Surface {
  readonly width: number;
  readonly height: number;
  private readonly to: CanvasRenderingContext2D;
  private readonly hatches = new Map<string, CanvasPattern | null>();
  private font = "";

  /** The canvas takes the size, times `ratio` device pixels. */
  constructor(canvas: HTMLCanvasElement, width: number, height: number, ratio: number) {
    this.width = width;
    this.height = height;
    const w = Math.round(width * ratio);
    const h = Math.round(height * ratio);
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    const to = contextOf(canvas);
    this.to = to;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    to.clearRect(0, 0, width, height);
    to.lineJoin = "round";
  }

  rect(x: number, y: number, w: number, h: number, fill: string): void {
    this.to.fillStyle = fill;
    this.to.fillRect(x, y, w, h);
  }

  rects(flat: number[], fill: string): void {
    this.to.fillStyle = fill;
    for (let i = 0; i < flat.length; i += 4) this.to.fillRect(flat[i], flat[i + 1], flat[i + 2], flat[i + 3]);
  }

  frame(x: number, y: number, w: number, h: number, stroke: string): void {
    this.to.strokeStyle = stroke;
    this.to.lineWidth = 1;
    this.to.strokeRect(x, y, w, h);
  }

  hatch(x: number, y: number, w: number, h: number, stroke: string): void {
    let pattern = this.hatches.get(stroke);
    if (pattern === undefined) {
      pattern = hatchPattern(this.to, stroke);
      this.hatches.set(stroke, pattern);
    }
    if (pattern !== null) {
      this.to.fillStyle = pattern;
      this.to.fillRect(x, y, w, h);
    }
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width = 1, dash: number[] = []): void {
    this.polyline([x1, y1, x2, y2], stroke, width, dash);
  }

  polyline(flat: number[], stroke: string, width = 1, dash: number[] = []): void {
    if (flat.length < 4) return;
    const { to } = this;
    to.strokeStyle = stroke;
    to.lineWidth = width;
    if (dash.length > 0) to.setLineDash(dash);
    to.beginPath();
    to.moveTo(flat[0], flat[1]);
    for (let i = 2; i < flat.length; i += 2) to.lineTo(flat[i], flat[i + 1]);
    to.stroke();
    if (dash.length > 0) to.setLineDash([]);
  }

  polygon(flat: number[], fill: string): void {
    const { to } = this;
    to.fillStyle = fill;
    to.beginPath();
    to.moveTo(flat[0], flat[1]);
    for (let i = 2; i < flat.length; i += 2) to.lineTo(flat[i], flat[i + 1]);
    to.fill();
  }

  markers(shape: Marker, flat: number[], size: number, fill: string, edge: string | null): void {
    const { to } = this;
    const outline = OUTLINES[shape];
    const filled = shape !== "cross" && shape !== "ring";
    to.beginPath();
    for (let i = 0; i < flat.length; i += 2) {
      const x = flat[i];
      const y = flat[i + 1];
      if (outline !== undefined) {
        to.moveTo(x + outline[0] * size, y + outline[1] * size);
        for (let k = 2; k < outline.length; k += 2) to.lineTo(x + outline[k] * size, y + outline[k + 1] * size);
        to.closePath();
      } else if (shape === "cross") {
        to.moveTo(x - size, y - size);
        to.lineTo(x + size, y + size);
        to.moveTo(x - size, y + size);
        to.lineTo(x + size, y - size);
      } else {
        to.moveTo(x + size, y);
        to.arc(x, y, size, 0, 2 * Math.PI);
      }
    }
    to.lineWidth = filled ? 0.6 : 1.3;
    if (filled) {
      to.fillStyle = fill;
      to.fill();
    }
    const rim = filled ? edge : fill;
    if (rim === null) return;
    to.strokeStyle = rim;
    to.stroke();
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    const { to } = this;
    this.setFont(`${style.bold ? "600 " : ""}${style.size ?? TEXT_SIZE}px ${style.mono ? MONO : FONT}`);
    to.fillStyle = style.colour;
    to.textAlign = style.align ?? "left";
    to.textBaseline = style.baseline ?? "middle";
    to.fillText(words, x, y);
  }

  textWidth(words: string, size = TEXT_SIZE): number {
    const key = `${size} ${words}`;
    let wide = widths.get(key);
    if (wide === undefined) {
      this.setFont(`${size}px ${FONT}`);
      wide = this.to.measureText(words).width;
      if (widths.size > 2000) widths.clear();
      widths.set(key, wide);
    }
    return wide;
  }

  clip(x: number, y: number, w: number, h: number, inside: () => void): void {
    this.to.save();
    this.to.beginPath();
    this.to.rect(x, y, w, h);
    this.to.clip();
    inside();
    this.to.restore();
    this.font = "";
  }

  private setFont(font: string): void {
    if (font !== this.font) this.to.font = font;
    this.font = font;
  }
}

/** Thin lines from lower left to upper right, 6 pixels apart. */
function hatchPattern(to: CanvasRenderingContext2D, stroke: string): CanvasPattern | null {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const on = tile.getContext("2d");
  if (on === null) return null;
  on.strokeStyle = stroke;
  on.lineWidth = 1;
  on.beginPath();
  for (const shift of [-6, 0, 6]) {
    on.moveTo(shift - 1, 7);
    on.lineTo(shift + 7, -1);
  }
  on.stroke();
  return to.createPattern(tile, "repeat");
}
