/** A part of a surface as a surface of its own: several pictures in one file. */

import type { Marker, Surface, TextStyle } from "./surface";

export class Part implements Surface {
  readonly width: number;
  readonly height: number;
  private readonly whole: Surface;
  private readonly left: number;
  private readonly top: number;

  constructor(whole: Surface, left: number, top: number, width: number, height: number) {
    this.whole = whole;
    this.left = left;
    this.top = top;
    this.width = width;
    this.height = height;
  }

  /** x, y, x, y, …; of rectangles every second pair is a size. */
  private moved(flat: number[], sizes = false): number[] {
    return flat.map((value, k) => (sizes && k % 4 > 1 ? value : value + (k % 2 === 0 ? this.left : this.top)));
  }

  rect(x: number, y: number, w: number, h: number, fill: string): void {
    this.whole.rect(x + this.left, y + this.top, w, h, fill);
  }

  rects(flat: number[], fill: string): void {
    this.whole.rects(this.moved(flat, true), fill);
  }

  frame(x: number, y: number, w: number, h: number, stroke: string): void {
    this.whole.frame(x + this.left, y + this.top, w, h, stroke);
  }

  hatch(x: number, y: number, w: number, h: number, stroke: string): void {
    this.whole.hatch(x + this.left, y + this.top, w, h, stroke);
  }

  line(x1: number, y1: number, x2: number, y2: number, stroke: string, width?: number, dash?: number[]): void {
    this.whole.line(x1 + this.left, y1 + this.top, x2 + this.left, y2 + this.top, stroke, width, dash);
  }

  polyline(flat: number[], stroke: string, width?: number, dash?: number[]): void {
    this.whole.polyline(this.moved(flat), stroke, width, dash);
  }

  polygon(flat: number[], fill: string): void {
    this.whole.polygon(this.moved(flat), fill);
  }

  markers(shape: Marker, flat: number[], size: number, fill: string, edge: string | null): void {
    this.whole.markers(shape, this.moved(flat), size, fill, edge);
  }

  text(x: number, y: number, words: string, style: TextStyle): void {
    this.whole.text(x + this.left, y + this.top, words, style);
  }

  textWidth(words: string, size?: number): number {
    return this.whole.textWidth(words, size);
  }

  clip(x: number, y: number, w: number, h: number, inside: () => void): void {
    this.whole.clip(x + this.left, y + this.top, w, h, inside);
  }
}
